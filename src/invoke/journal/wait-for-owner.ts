/**
 * Waits for a call that is in flight, here or in another process. If the owner is dead, its call is marked unknown; a live
 * owner is never replaced. Every wait has a timeout: a tool that never settles must not block equal calls forever.
 */
import { ToolwrightError } from "../../errors.ts";
import { readApproval } from "../../store/tables/approvals.ts";
import { callsByKey, type CallRow } from "../../store/tables/calls.ts";
import type { Transaction } from "../../store/store.ts";
import { markUnknown } from "../../store/tables/write-calls.ts";
import { untilAborted } from "../../util/abort.ts";
import { systemClock } from "../../util/clock.ts";
import { abortError } from "../abort-error.ts";
import { type Call, emit, inFlightName } from "../call.ts";
import { whenTriesSettled } from "../unsettled-tries.ts";
import { Contended } from "../policy.ts";

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * Returns when the row is no longer running. Uses real time, the only time that processes share.
 * @param options.includesPending also waits while the call waits for approval, until its question about an interrupted try
 * is answered: the answer may bind the caller too, and the waiting call may never be made again
 * @throws TOOL_TIMEOUT, TOOL_ABORTED
 */
export async function waitForOwner(
  call: Call,
  row: CallRow,
  options: { readonly includesPending?: boolean } = {},
): Promise<void> {
  const { host } = call;
  const timeoutMs = longestWaitMs(call);
  const deadline = performance.now() + timeoutMs;
  const running = runningHere(call, row);
  if (running !== undefined && row.status === "started") await pause(call, deadline, running);
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    if (row.ownerId === host.ownerId) await host.failedWrites.settle();
    const { current, isAnswered } = await host.store.read(function* () {
      const found = yield* sameRow(row);
      return { current: found, isAnswered: found !== undefined && (yield* hasAnswer(found)) };
    });
    const isWaiting = current?.status === "pending" && options.includesPending === true && !isAnswered;
    if (!isWaiting && (current?.status !== "started" || current.ownerId !== row.ownerId)) return;
    if (!isWaiting && !(await isAlive(call, row))) {
      const changes = await host.store.transaction(() => markUnknown(row, host.clock.now()), "normal");
      if (changes > 0) emit(call, { type: "call-interrupted" });
      return;
    }
    if (performance.now() >= deadline) throw tooLong(call, timeoutMs);
    await pause(call, performance.now() + ms);
  }
}

/** Waits for the same call of this runtime. @throws TOOL_TIMEOUT, TOOL_ABORTED */
export async function waitInFlight(call: Call, other: Promise<unknown>): Promise<void> {
  const timeoutMs = longestWaitMs(call);
  const isOver = await Promise.race([
    other.then(() => true),
    pause(call, performance.now() + timeoutMs, other).then(() => false),
  ]);
  if (!isOver) throw tooLong(call, timeoutMs);
}

/**
 * Whether an interrupted call no longer runs anywhere. Only then `reconcile` can check it, and only then it may run again.
 * `false` if it does not settle in time.
 * @throws Contended if it has just settled, and the log must be read again
 */
export async function hasSettled(
  call: Call,
  row: CallRow,
  longestMs: number = longestWaitMs(call),
): Promise<boolean> {
  const { host } = call;
  const deadline = performance.now() + longestMs;
  if (!(await isAtWork(call, row))) return true;
  for (let ms = FIRST_PAUSE_MS; performance.now() < deadline; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    const here = whenTriesSettled(host.store, row.key);
    await pause(call, here === undefined ? performance.now() + ms : deadline, here);
    if (!(await isAtWork(call, row))) throw new Contended();
  }
  return false;
}

/** A call must never run again alongside an interrupted try that still runs. @throws TOOL_TIMEOUT, Contended */
export async function assertSettled(call: Call, row: CallRow): Promise<void> {
  if (await hasSettled(call, row)) return;
  const tool = call.spec.name;
  throw new ToolwrightError(
    "TOOL_TIMEOUT",
    `An earlier try of "${tool}" was interrupted and is still running; the call cannot run again alongside it.`,
    {
      details: { tool, key: row.key, attempt: row.attempt },
      hint: "Wait until the tool has stopped, or end its process. Then call it again.",
      effect: "none",
      retryable: true,
    },
  );
}

/** When the last interrupted try of the call settled; 0 if none was interrupted. */
export async function settledAtMs({ host }: Call, row: CallRow): Promise<number> {
  const rows = await host.store.read(() => callsByKey(row.scopeId, row.key));
  return Math.max(
    0,
    ...rows.flatMap(({ executing, finishedAtMs }) => (executing === false ? (finishedAtMs ?? 0) : 0)),
  );
}

/** Checks all attempts: the row of a call that has waited since then does not show the interrupted try. */
export async function isAtWork({ host }: Call, row: CallRow): Promise<boolean> {
  if (whenTriesSettled(host.store, row.key) !== undefined) return true;
  const rows = await host.store.read(() => callsByKey(row.scopeId, row.key));
  for (const { executing, ownerId } of rows) {
    if (
      executing === true &&
      ownerId !== null &&
      ownerId !== host.ownerId &&
      (await host.isOwnerAlive(ownerId))
    )
      return true;
  }
  return false;
}

/** Whether the call waits for an answer about an interrupted try of it, and one was given. */
export function* hasAnswer({ status, waitsFor, key }: CallRow): Transaction<boolean> {
  if (status !== "pending" || waitsFor === null) return false;
  // A decided request does not expire.
  const question = yield* readApproval(waitsFor, 0);
  const isDecided = question?.status === "approved" || question?.status === "denied";
  return isDecided && question.kind === "replay" && question.callKey === key;
}

function* sameRow({ scopeId, key, attempt }: CallRow): Transaction<CallRow | undefined> {
  return (yield* callsByKey(scopeId, key)).find((other) => other.attempt === attempt);
}

/** The longest time that the other call may take with all its tries. */
function longestWaitMs({ spec, host }: Call): number {
  return (spec.timeoutMs ?? host.settings.timeoutMs) * (1 + (spec.retry.maxRetries ?? 0));
}

/** The running call of this runtime that the row belongs to. Never `call` itself: its row is an older one. */
function runningHere(call: Call, row: CallRow): Promise<unknown> | undefined {
  const { host } = call;
  if (row.ownerId !== host.ownerId) return undefined;
  const running = host.waitGraph.find(row.key, row.attempt);
  return running === call ? undefined : running?.ended.promise;
}

/** A call of this runtime is alive while it is in flight, or while its outcome is not stored yet. */
async function isAlive(call: Call, row: CallRow): Promise<boolean> {
  const { host } = call;
  if (row.ownerId === null) return false;
  if (row.ownerId !== host.ownerId) return host.isOwnerAlive(row.ownerId);
  return runningHere(call, row) !== undefined || host.failedWrites.has(inFlightName(row.key, row.attempt));
}

/** Waits until the deadline, or until `other` settles. Clears its timer, which would keep the process running. */
async function pause(call: Call, deadline: number, other?: Promise<unknown>): Promise<void> {
  const { signal } = call;
  const over = new AbortController();
  const timer = systemClock
    .sleep(Math.max(0, deadline - performance.now()), over.signal)
    .catch(() => undefined);
  await untilAborted(other === undefined ? timer : Promise.race([timer, other]), signal);
  over.abort();
  if (signal?.aborted === true)
    throw abortError(call, { doing: "while it waited for an equal call", effect: "none" });
}

function tooLong(call: Call, timeoutMs: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_TIMEOUT",
    `An equal call of "${call.spec.name}" is still running and did not end within ${timeoutMs} ms.`,
    { details: { tool: call.spec.name, timeoutMs }, effect: "none", retryable: true },
  );
}
