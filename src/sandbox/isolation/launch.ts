/**
 * One command, ready to be spawned: what a tier made of it. Only the shape; the tiers fill it and `run-process` runs it.
 */
import type { IsolationTier } from "./tier.ts";
import type { ExpectedMounts } from "./verify-mounts.ts";

/** The descriptors beyond the standard three, the same for every tier. */
export const FILTER_DESCRIPTOR = 3;
export const STATUS_DESCRIPTOR = 4;
export const OPTIONS_DESCRIPTOR = 5;
/** The command waits until a byte comes here. */
export const GATE_DESCRIPTOR = 6;
/** The first of those that are handed over as they are. */
export const FIRST_HELD_DESCRIPTOR = 7;

export interface Launch {
  readonly tier: IsolationTier;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Written to the filter's descriptor. */
  readonly filter: Uint8Array | undefined;
  /** Written to the descriptor of options: bubblewrap's, or the launcher's plan. */
  readonly options: Uint8Array | undefined;
  /** Descriptors of this process that the sandbox binds, from FIRST_HELD_DESCRIPTOR on. */
  readonly held: readonly number[];
  /** What has to be mounted before the command may start; it waits at the gate until that was looked at. */
  readonly expected: ExpectedMounts | undefined;
  /** Whether something reports on the status descriptor. */
  readonly reports: boolean;
  /** Whether the filter's descriptor is a pipe that stays open instead: its end is then the end of the agent. */
  readonly lifeline: boolean;
  /**
   * How everything that the command started is ended: the PID namespace goes with its first process; a supervisor
   * does it once its descriptor closes; a plain process leaves nothing better than its group and its descendants.
   */
  readonly kill: "namespace" | "supervisor" | "group";
  /** Removes what the tier made for this command on the host. */
  readonly onEnd?: () => void;
}
