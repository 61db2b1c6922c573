/** Ends an attempt that takes too long, or whose run is to stop, also where its code does not listen to the signal. */
import { setTimeout as sleep } from "node:timers/promises";
import { ToolwrightError } from "../errors.ts";
import { untilAborted } from "../util/abort.ts";
import type { TaskProps } from "./components.ts";
import type { RunState } from "./run-state.ts";

export interface AttemptLimit {
  readonly signal: AbortSignal;
  /** Rejects when the task's time is over, or its run is to stop. What a cut-off attempt still brings is nobody's. */
  race<T>(work: Promise<T>): Promise<T>;
}

/** How long what listens to the signal may take to put its calls on record. */
const GRACE_MS = 1_000;

export function limitAttempt(run: RunState, { id, timeoutMs }: TaskProps): AttemptLimit {
  if (timeoutMs === undefined) return { signal: run.signal, race: (work) => untilStopped(work, run.signal) };
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
    race: (work) => Promise.race([untilStopped(work, run.signal), expired]).finally(() => ended.abort()),
  };
}

async function untilStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined);
  await untilAborted(work, signal);
  if (!signal.aborted) return work;
  const ended = new AbortController();
  const grace = sleep(GRACE_MS, undefined, { signal: ended.signal }).then((): never => {
    throw signal.reason;
  });
  grace.catch(() => undefined);
  return Promise.race([work, grace]).finally(() => ended.abort());
}
