/** Describes a run's waits besides approvals: times and signals. */
import type { RunWait } from "../runtime/runs.ts";
import type { Store } from "../store/store.ts";
import { readRefusals } from "../store/tables/signals.ts";
import { type OpenWait, readWaits } from "../store/tables/waits.ts";
import { toAge, toDuration, toShortText } from "../terminal/readable.ts";

/** For programs. It does not change while the run only waits. */
export async function listWaits(store: Store, runId: string): Promise<RunWait[]> {
  return (await store.read(() => readWaits(runId))).map(
    ({ nodeId, path, kind, signal, dueAtMs, isOver }) => ({
      nodeId,
      path,
      kind,
      signal,
      dueAtMs,
      isOver,
    }),
  );
}

/** One sentence for each. */
export async function describeWaits(store: Store, runId: string): Promise<string[]> {
  return (await store.read(() => readWaits(runId))).map(describeWait);
}

/** A sentence such as: Task "nap" sleeps until 2026-11-18T03:00:00.000Z, for another 2 h 3 min. */
function describeWait({ nodeId, kind, signal, dueAtMs, nowMs, isOver }: OpenWait): string {
  const isTimeOver = dueAtMs !== null && dueAtMs <= nowMs;
  const until = dueAtMs === null ? "" : ` until ${toTime(dueAtMs)}`;
  const left = dueAtMs === null || isTimeOver ? "" : `, for another ${toDuration(dueAtMs - nowMs)}`;
  if (kind === "timer")
    return isOver
      ? `Task "${nodeId}" slept${until}, and can continue.`
      : `Task "${nodeId}" sleeps${until}${left}.`;
  const name = `the signal "${toShortText(signal)}"`;
  if (!isOver) return `Task "${nodeId}" waits for ${name}${until}${left}.`;
  return isTimeOver
    ? `Task "${nodeId}" waited for ${name}${until}, and can continue.`
    : `Task "${nodeId}" waited for ${name}, which has arrived.`;
}

const LATEST_DATE = 8.64e15;

export function toTime(ms: number): string {
  return new Date(Math.min(ms, LATEST_DATE)).toISOString();
}

const MOST_REFUSALS = 5;

/** Why tasks did not use signals that were sent to them. */
export async function listRefusals(store: Store, runId: string): Promise<string[]> {
  const refusals = await store.read(() => readRefusals(runId, MOST_REFUSALS));
  return refusals.map(
    ({ name, because, sentAtMs }) =>
      `A signal "${toShortText(name)}", sent ${toAge(sentAtMs)}, was not used: ${toShortText(because, 300)}`,
  );
}
