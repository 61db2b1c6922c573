/** Schedules as programs see them. The functions behind them are loaded on first use. */

export interface ScheduleOptions {
  /** A second `set` with this name changes the schedule. */
  readonly name: string;
  /** The name under which workers know the workflow. */
  readonly workflow: string;
  /** A cron line with five fields, or six with seconds first. Either this or `everyMs`. */
  readonly cron?: string | undefined;
  /** A period, counted from `set`. */
  readonly everyMs?: number | undefined;
  /** The time zone of the cron line, such as `"Europe/Berlin"`. Default `"UTC"`. */
  readonly tz?: string | undefined;
  /** The input of each run. */
  readonly input?: unknown;
  /**
   * If the previous run has not ended: `"skip"` starts no run, `"queue"` starts it when that run has ended. Default
   * `"skip"`.
   */
  readonly overlap?: "skip" | "queue" | undefined;
  /**
   * After a time without any worker: `"none"` waits for the next time, `"last"` starts one run for all times that were
   * missed. Default `"none"`.
   */
  readonly catchUp?: "none" | "last" | undefined;
}

export interface Schedule {
  readonly name: string;
  readonly workflow: string;
  readonly cron: string | null;
  readonly everyMs: number | null;
  readonly tz: string;
  readonly input: unknown;
  readonly overlap: "skip" | "queue";
  readonly catchUp: "none" | "last";
  readonly paused: boolean;
  /** `null` while it is paused, and once a cron line has no more times. */
  readonly nextAtMs: number | null;
  /** The time of its newest run. */
  readonly lastAtMs: number | null;
  readonly lastRunId: string | null;
  /** Times whose runs wait for the previous run. */
  readonly queued: number;
  /** Times at which no run was started: the previous run had not ended, or no worker was running. */
  readonly skipped: number;
}

export interface Schedules {
  /** Creates or changes a schedule. One that is equal to the stored one is not changed. @throws TOOL_OPTION_INVALID */
  set(schedule: ScheduleOptions): Promise<Schedule>;
  /** By name. */
  list(): Promise<Schedule[]>;
  /** Starts no more runs. Queued runs still finish. @throws WORKFLOW_SCHEDULE_NOT_FOUND */
  pause(name: string): Promise<Schedule>;
  /** Ends a pause. Times that passed meanwhile are not made up for. @throws WORKFLOW_SCHEDULE_NOT_FOUND */
  resume(name: string): Promise<Schedule>;
  /** Deletes the schedule and its queued runs. Runs that were started stay. @throws WORKFLOW_SCHEDULE_NOT_FOUND */
  remove(name: string): Promise<void>;
}
