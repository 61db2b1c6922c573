/**
 * Waits for a call that is in flight, here or in another process. A dead owner is noticed and its call marked unknown;
 * a live one is never robbed.
 */
import { ToolwrightError } from "../../errors.ts";
import { callsByKey, type CallRow, markUnknown } from "../../store/calls.ts";
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
  const own = host.inFlight.get(inFlightName(row.key, row.attempt));
  if (own !== undefined && row.ownerId === host.ownerId && row.status === "started") {
    await Promise.race([own.catch(() => undefined), until(deadline, call.signal)]);
  }
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const rows = await host.store.read(() => callsByKey(row.scopeId, row.key));
    const current = rows.find((other) => other.attempt === row.attempt);
    const isWaiting = current?.status === "pending" && timeoutMs !== undefined;
    if (!isWaiting && (current?.status !== "started" || current.ownerId !== row.ownerId)) return;
    if (!isWaiting && !(await isAlive(call, row))) {
      await host.store.transaction(() => markUnknown(row, host.clock.now()), "normal");
      return;
    }
    if (performance.now() >= deadline) throw tooLong(call, timeoutMs ?? 0);
    await until(performance.now() + pause, call.signal);
  }
}

/** In this runtime, a call is alive while it is in flight; the process alone does not keep it so. */
function isAlive(call: Call, row: CallRow): Promise<boolean> {
  const { host } = call;
  if (row.ownerId === null) return Promise.resolve(false);
  if (row.ownerId === host.ownerId)
    return Promise.resolve(host.inFlight.has(inFlightName(row.key, row.attempt)));
  return host.isOwnerAlive(row.ownerId);
}

function until(deadline: number, signal: AbortSignal | undefined): Promise<void> {
  const ms = Math.min(deadline - performance.now(), 2 ** 31 - 1);
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(aborted(signal));
    };
    if (signal?.aborted === true) {
      reject(aborted(signal));
      return;
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      },
      Math.max(0, ms),
    );
    signal?.addEventListener("abort", stop, { once: true });
  });
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
