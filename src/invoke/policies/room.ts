/**
 * Waits until there is room for the call: a place under `maxParallelTools`, a budget that others hold for now, a breaker
 * that calls in flight may be about to open. It stands before the cache, so that a call that waits leads no others.
 */
import { untilAborted } from "../../util/abort.ts";
import { type Call, callsAround } from "../call.ts";
import type { Wait } from "../calls-at-work.ts";
import type { Result } from "../outcome.ts";
import { aborted, MustWait, type Policy } from "../policy.ts";
import { waitForReservations } from "../wait-for-reservations.ts";
import { wallLeft } from "./timeout.ts";

/** About a second. Counted, not timed: while this process is stopped, so are the calls it waits for. */
const MOST_WAITS_INSIDE = 70;

export const room: Policy = (call, next) =>
  call.guards?.has("limit") === true || call.spec.retry.circuitBreakerThreshold !== undefined
    ? whenThereIsRoom(call, next)
    : next();

async function whenThereIsRoom(call: Call, next: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await next();
    } catch (error) {
      if (!(error instanceof MustWait)) throw error;
      await waitFor(call, error);
      if (call.signal?.aborted === true) return aborted(call.signal);
    }
  }
}

async function waitFor(call: Call, { reason }: MustWait): Promise<void> {
  switch (reason.what) {
    case "place":
      return waitForPlace(call, reason.max);
    case "budget":
      return waitForBudget(call, reason.holders);
    case "breaker":
      call.breakerWaits += 1;
      return waitForReservations(call);
  }
}

/** Not longer than the run's time budget: then the call begins nothing and is refused. */
async function waitForPlace(call: Call, max: number): Promise<void> {
  const { host, scope } = call;
  const over = new AbortController();
  const { taken, leave } = host.budgets.queueForPlace(call, max);
  const wait: Wait = {
    kind: "place",
    waiter: call,
    holders: () => host.budgets.inPlaces(scope.budgetId),
    giveWay: () => {
      call.mustNotWait = true;
      over.abort();
    },
  };
  host.atWork.wait(wait);
  const left = wallLeft(call);
  // A wait that gave way at once needs no timer: its rejection would have no handler.
  const timer = left === undefined || over.signal.aborted ? [] : [host.clock.sleep(left, over.signal)];
  const gaveWay = new Promise<void>((resolve) => over.signal.addEventListener("abort", () => resolve()));
  if (!over.signal.aborted) await untilAborted(Promise.race([taken, gaveWay, ...timer]), call.signal);
  host.atWork.end(wait);
  leave();
  over.abort();
}

async function waitForBudget(call: Call, keys: readonly string[]): Promise<void> {
  const { atWork } = call.host;
  // A call inside another one keeps that one from ending. Calls of other processes may do the same, unseen from here.
  const isElsewhere = keys.some((key) => atWork.withKey(key).length === 0);
  if (isElsewhere && !callsAround(call).next().done) call.budgetWaits += 1;
  const wait: Wait = {
    kind: "budget",
    waiter: call,
    holders: () => keys.flatMap((key) => [...atWork.withKey(key)]),
    giveWay: () => {
      call.mustNotWait = true;
    },
  };
  atWork.wait(wait);
  if (call.budgetWaits > MOST_WAITS_INSIDE) call.mustNotWait = true;
  if (!call.mustNotWait) await waitForReservations(call);
  atWork.end(wait);
}
