/**
 * Waits for a call that is in flight, here or in another process. A dead owner is noticed and its call marked unknown;
 * a live one is never robbed.
 */
import { ToolwrightError } from "../../errors.ts";
import { callsByKey, type CallRow } from "../../store/calls.ts";
import { markUnknown } from "../../store/write-calls.ts";
import { untilAborted } from "../../util/abort.ts";
import { systemClock } from "../../util/clock.ts";
import { type Call, inFlightName } from "../call.ts";

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * Returns when the row is no longer running. Real time is used throughout: another process has no other.
 * @param options.timeoutMs ends the wait with TOOL_TIMEOUT, also for a call that waits for a person
 */
export async function waitForOwner(
  call: Call,
  row: CallRow,
  options: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const { host } = call;
  const { timeoutMs } = options;
  const deadline = timeoutMs === undefined ? Infinity : performance.now() + timeoutMs;
  const running = runningHere(call, row);
  if (running !== undefined && row.status === "started") await pause(deadline, call.signal, running);
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    const rows = await host.store.read(() => callsByKey(row.scopeId, row.key));
    const current = rows.find((other) => other.attempt === row.attempt);
    const isWaiting = current?.status === "pending" && timeoutMs !== undefined;
    if (!isWaiting && (current?.status !== "started" || current.ownerId !== row.ownerId)) return;
    if (!isWaiting && !(await isAlive(call, row))) {
      await host.store.transaction(() => markUnknown(row, host.clock.now()), "normal");
      return;
    }
    if (performance.now() >= deadline) throw tooLong(call, timeoutMs ?? 0);
    await pause(performance.now() + ms, call.signal);
  }
}

/** The call of this runtime that the row belongs to, if it is at work. This very call is not: its row is an older one. */
function runningHere(call: Call, row: CallRow): Promise<unknown> | undefined {
  const { host } = call;
  if (row.ownerId !== host.ownerId) return undefined;
  const running = host.inFlight.get(inFlightName(row.key, row.attempt));
  return running === call.ended.promise ? undefined : running;
}

/** In this runtime, a call is alive while it is in flight; the process alone does not keep it so. */
async function isAlive(call: Call, row: CallRow): Promise<boolean> {
  const { host } = call;
  if (row.ownerId === null) return false;
  if (row.ownerId === host.ownerId) return runningHere(call, row) !== undefined;
  return host.isOwnerAlive(row.ownerId);
}

/** Until the deadline, or until `other` settles. Leaves no timer behind that would keep the program running. */
async function pause(
  deadline: number,
  signal: AbortSignal | undefined,
  other?: Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  const timer = systemClock
    .sleep(Math.max(0, deadline - performance.now()), over.signal)
    .catch(() => undefined);
  await untilAborted(other === undefined ? timer : Promise.race([timer, other]), signal);
  over.abort();
  if (signal?.aborted === true) throw aborted(signal);
}

function aborted(signal: AbortSignal | undefined): ToolwrightError {
  return new ToolwrightError("TOOL_ABORTED", "The call was cut off while it waited for an equal one.", {
    cause: signal?.reason,
    effect: "none",
  });
}

function tooLong(call: Call, timeoutMs: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_TIMEOUT",
    `An equal call of "${call.spec.name}" is running elsewhere and did not end within ${timeoutMs} ms.`,
    { details: { tool: call.spec.name, timeoutMs }, effect: "none", retryable: true },
  );
}
