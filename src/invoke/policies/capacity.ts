/**
 * Waits until there is capacity for the call: a slot under `maxParallelTools`, a budget that other calls have reserved, a
 * breaker that calls in flight may open, or a place under a limit of its tool across processes. Comes before the cache, so that no call waits for the result of a waiting call.
 */
import { holdersOfReservations, releaseReservationsOf } from "../../store/tables/usage.ts";
import { untilAborted } from "../../util/abort.ts";
import { systemClock } from "../../util/clock.ts";
import { type Call, callsAround } from "../call.ts";
import { isInFlight } from "../in-flight-holders.ts";
import type { Wait } from "../wait-graph.ts";
import type { Host } from "../host.ts";
import type { Result } from "../outcome.ts";
import { aborted, MustWait, type Policy, type Next } from "../policy.ts";
import { wallLeft } from "./timeout.ts";
import { waitForPlace, waitForRate } from "./wait-for-place.ts";

/** About a second. Counted and not timed: if this process is stopped, so are the calls that it waits for. */
const MOST_WAITS_INSIDE = 70;
const PAUSE_MS = 15;

export const capacity: Policy = (call, next) => (mayWait(call) ? waitForCapacity(call, next) : next(call));

function mayWait({ guards, spec }: Call): boolean {
  const { retry, concurrency, rate } = spec;
  return (
    guards?.has("limit") === true ||
    retry.circuitBreakerThreshold !== undefined ||
    concurrency !== undefined ||
    rate !== undefined
  );
}

async function waitForCapacity(call: Call, next: Next): Promise<Result> {
  for (;;) {
    try {
      return await next(call);
    } catch (error) {
      if (!(error instanceof MustWait)) throw error;
      await waitFor(call, error);
      if (call.signal?.aborted === true) return aborted(call);
    }
  }
}

async function waitFor(call: Call, { reason }: MustWait): Promise<void> {
  switch (reason.what) {
    case "slot":
      return waitForSlot(call, reason.max);
    case "budget":
      return waitForBudget(call, reason.holders);
    case "breaker":
      call.breakerWaits += 1;
      return waitForReservations(call);
    case "place":
      return waitForPlace(call, reason);
    case "rate":
      return waitForRate(call, reason);
  }
}

/** At most until the run's time limit: then the call is refused without having begun. */
async function waitForSlot(call: Call, max: number): Promise<void> {
  const { host, scope } = call;
  const over = new AbortController();
  const { taken, leave } = host.budgets.queueForSlot(call, max);
  const wait: Wait = {
    kind: "slot",
    waiter: call,
    holders: () => host.budgets.slotHolders(scope.budgetId),
    giveWay: () => {
      call.mustNotWait = true;
      over.abort();
    },
  };
  host.waitGraph.wait(wait);
  const left = wallLeft(call);
  // A wait that gave way immediately needs no timer: nothing would handle its rejection.
  const timer = left === undefined || over.signal.aborted ? [] : [host.clock.sleep(left, over.signal)];
  const gaveWay = new Promise<void>((resolve) => over.signal.addEventListener("abort", () => resolve()));
  if (!over.signal.aborted) await untilAborted(Promise.race([taken, gaveWay, ...timer]), call.signal);
  host.waitGraph.end(wait);
  leave();
  over.abort();
}

async function waitForBudget(call: Call, keys: readonly string[]): Promise<void> {
  const { waitGraph } = call.host;
  // An inner call keeps its enclosing call from ending. Calls of other processes may do the same, invisible from here.
  const isElsewhere = keys.some((key) => waitGraph.withKey(key).length === 0);
  if (isElsewhere && !callsAround(call).next().done) call.budgetWaits += 1;
  const wait: Wait = {
    kind: "budget",
    waiter: call,
    holders: () => keys.flatMap((key) => [...waitGraph.withKey(key)]),
    giveWay: () => {
      call.mustNotWait = true;
    },
  };
  waitGraph.wait(wait);
  if (call.budgetWaits > MOST_WAITS_INSIDE) call.mustNotWait = true;
  if (!call.mustNotWait) await waitForReservations(call);
  waitGraph.end(wait);
}

/**
 * Lets calls in flight settle their reservations. A reservation belongs to a call in flight: reservations of a dead
 * process are dropped, and so are those of this runtime's calls whose outcome could not be stored. In real time, for
 * other processes.
 */
async function waitForReservations(call: Call): Promise<void> {
  await dropAbandoned(call.host);
  // Only an abort ends the pause early, and the caller checks for it.
  await systemClock.sleep(PAUSE_MS, call.signal).catch(() => undefined);
}

async function dropAbandoned(host: Host): Promise<void> {
  const alive = new Map<string, boolean>();
  for (const holder of await host.store.read(() => holdersOfReservations())) {
    if (await isInFlight(host, holder, alive)) continue;
    await host.store.transaction(() => releaseReservationsOf(holder.callKey, holder.ownerId), "normal");
  }
}
