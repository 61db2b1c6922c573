/** Ends an attempt that times out, or whose run stops, even if its code ignores the signal. */
import { setTimeout as sleep } from "node:timers/promises";
import { ToolwrightError } from "../errors.ts";
import { untilAborted } from "../util/abort.ts";
import type { TaskProps } from "./components.ts";
import type { RunState } from "./run-state.ts";

export interface AttemptLimit {
  readonly signal: AbortSignal;
  /** Rejects when the task times out or its run stops. A later result of the work is dropped. */
  race<T>(work: Promise<T>): Promise<T>;
}

/** How long work that honours the signal may take to log its calls. */
const GRACE_MS = 1_000;

export function limitAttempt(run: RunState, { id, timeoutMs }: TaskProps): AttemptLimit {
  if (timeoutMs === undefined) return { signal: run.signal, race: (work) => untilStopped(work, run.signal) };
  const over = new AbortController();
  const ended = new AbortController();
  const expired = run.host.clock.sleep(timeoutMs, ended.signal).then((): never => {
    const error = new ToolwrightError("TOOL_TIMEOUT", `Task "${id}" timed out after ${timeoutMs} ms.`);
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
