/** Ends an attempt that takes too long, or whose run is to stop, also where its code does not listen to the signal. */
import { setTimeout as sleep } from "node:timers/promises";
import { ToolwrightError } from "../errors.ts";
import { untilAborted } from "../util/abort.ts";
import type { TaskProps } from "./components.ts";
import type { RunState } from "./run-state.ts";

/** What a cut-off attempt still brings is nobody's. */
export interface AttemptLimit {
  readonly signal: AbortSignal;
  /** Rejects when the run is to stop. */
  untilStopped<T>(work: Promise<T>): Promise<T>;
  /** Rejects when the task's time is over. */
  inTime<T>(work: Promise<T>): Promise<T>;
}

/** How long what listens to the signal may take to put its calls on record. */
const GRACE_MS = 1_000;

export function limitAttempt(run: RunState, { id, timeoutMs }: TaskProps): AttemptLimit {
  const untilStopped = <T>(work: Promise<T>): Promise<T> => raceStop(work, run.signal);
  if (timeoutMs === undefined) return { signal: run.signal, untilStopped, inTime: (work) => work };
  const over = new AbortController();
  const ended = new AbortController();
  // By the runtime's clock.
  const expired = run.host.clock.sleep(timeoutMs, ended.signal).then((): never => {
    const error = new ToolwrightError("TOOL_TIMEOUT", `Task "${id}" took longer than ${timeoutMs} ms.`);
    over.abort(error);
    throw error;
  });
  expired.catch(() => undefined);
  return {
    signal: AbortSignal.any([run.signal, over.signal]),
    untilStopped,
    inTime: (work) => {
      work.catch(() => undefined);
      return Promise.race([work, expired]).finally(() => ended.abort());
    },
  };
}

async function raceStop<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  await untilAborted(work, signal);
  if (!signal.aborted) return work;
  work.catch(() => undefined);
  const ended = new AbortController();
  const grace = sleep(GRACE_MS, undefined, { signal: ended.signal }).then((): never => {
    throw signal.reason;
  });
  grace.catch(() => undefined);
  return Promise.race([work, grace]).finally(() => ended.abort());
}
