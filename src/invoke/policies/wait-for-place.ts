/**
 * Waits for a place under a limit of the tool across processes. The first waiting call of this runtime has a position in the
 * store, looks whether there is room, and drops places of dead processes. Real time: other processes are waited for.
 */
import { leaveLimitQueue, readPlaces, SEEN_MS, joinLimitQueue } from "../../store/tables/tool-limits.ts";
import { releaseReservationsOf } from "../../store/tables/usage.ts";
import { untilAborted } from "../../util/abort.ts";
import { systemClock } from "../../util/clock.ts";
import { type Call, keysAround } from "../call.ts";
import { isInFlight } from "../in-flight-holders.ts";
import type { WaitReason } from "../policy.ts";
import type { RunRelease } from "../run-release.ts";
import type { Wait } from "../wait-graph.ts";
import { endNotes, mustGiveWay, placesAround } from "./place-deadlock.ts";
import { wallLeft } from "./timeout.ts";

/** The pause between two looks. It doubles while the same calls hold the places. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
/** How often a waiting process renews its position, and looks for dead holders. */
const RENEW_MS = SEEN_MS / 4;

type Place = Extract<WaitReason, { readonly what: "place" }>;
type Rate = Extract<WaitReason, { readonly what: "rate" }>;

/** Returns when it is worth another try, and when the call must stop waiting. */
export async function waitForPlace(call: Call, reason: Place): Promise<void> {
  const { host } = call;
  const { name } = reason;
  enterQueue(call, name);
  let holders: readonly string[] = reason.holders.map(({ callKey }) => callKey);
  const wait: Wait = {
    kind: "place",
    waiter: call,
    holders: () => [
      ...host.places.before(call, name),
      ...holders.flatMap((key) => [...host.waitGraph.withKey(key)]),
    ],
    giveWay: () => {
      call.mustShare = true;
      host.places.wake(call);
    },
  };
  host.waitGraph.wait(wait);
  const outer = placesAround(call);
  let noteAt = outer.length === 0 ? Infinity : performance.now() + RENEW_MS;
  let isNoted = false;
  try {
    let renewAt = 0;
    for (let ms = FIRST_PAUSE_MS; !call.mustShare; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
      const isFirst = !host.places.isBehind(call, name);
      if (isFirst) {
        const isRenewal = performance.now() >= renewAt;
        if (isRenewal) renewAt = performance.now() + RENEW_MS;
        const room = await look(call, reason, isRenewal);
        if (room === "free") return;
        if (room.join() !== holders.join()) ms = FIRST_PAUSE_MS;
        holders = room;
        // Only now the graph can see these holders.
        host.waitGraph.end(wait);
        host.waitGraph.wait(wait);
        if (call.mustShare) return;
      }
      if (performance.now() >= noteAt) {
        noteAt = performance.now() + RENEW_MS;
        isNoted = true;
        if (await mustGiveWay(call, name, outer)) call.mustShare = true;
        if (call.mustShare) return;
      }
      await pause(call, isFirst ? ms : outer.length === 0 ? undefined : RENEW_MS);
      if (isOver(call)) return;
    }
  } finally {
    host.waitGraph.end(wait);
    if (isNoted) await endNotes(call, name, outer);
  }
}

/** The first call of the queue knows when the next one may begin. */
export async function waitForRate(call: Call, { name, waitMs }: Rate): Promise<void> {
  enterQueue(call, name);
  const isFirst = !call.host.places.isBehind(call, name);
  await pause(call, isFirst ? Math.max(waitMs, 1) : undefined);
}

function enterQueue(call: Call, name: string): void {
  const { places } = call.host;
  // Other calls of its run need not wait with it.
  call.host.budgets.freeSlot(call);
  if (places.nameOf(call) === name) return;
  leaveQueue(call);
  places.join(call, name);
  call.cleanups.push(() => leaveQueue(call));
}

/** A process without waiting calls leaves the queue; if that fails, its turn lapses. */
function leaveQueue(call: Call): void {
  const { host } = call;
  const name = host.places.leave(call);
  if (name === undefined || !name.startsWith("concurrency:")) return;
  void host.store.transaction(() => leaveLimitQueue(name, host.ownerId), "normal").catch(() => undefined);
}

/** The keys of the calls that hold the places, or `"free"`. */
async function look(
  call: Call,
  { name, max }: Place,
  isRenewal: boolean,
): Promise<"free" | readonly string[]> {
  const { host } = call;
  if (isRenewal) await host.store.transaction(() => joinLimitQueue(name, host.ownerId), "normal");
  const { holders, ahead } = await host.store.read(() => readPlaces(name, host.ownerId));
  const own = keysAround(call);
  const others = holders.filter(({ callKey }) => !own.has(callKey));
  let held = others.length;
  if (isRenewal) {
    const alive = new Map<string, boolean>();
    for (const holder of others) {
      if (await isInFlight(host, holder, alive)) continue;
      await host.store.transaction(() => releaseReservationsOf(holder.callKey, holder.ownerId), "normal");
      held -= 1;
    }
  }
  return held + ahead < max ? "free" : others.map(({ callKey }) => callKey);
}

/** Ends early when it is the call's turn, a place of this runtime is free, the call is aborted, or a worker drains. */
async function pause(call: Call, ms: number | undefined): Promise<void> {
  const over = new AbortController();
  const woken = Promise.withResolvers<void>();
  const wake = (): void => woken.resolve();
  const stopWaiting = call.host.places.onTurn(call, wake);
  const drain = releaseOf(call)?.requested;
  drain?.addEventListener("abort", wake, { once: true });
  const timers = [ms, wallLeft(call)].flatMap((one) =>
    one === undefined ? [] : [systemClock.sleep(one, over.signal).catch(() => undefined)],
  );
  if (drain?.aborted !== true) await untilAborted(Promise.race([woken.promise, ...timers]), call.signal);
  over.abort();
  drain?.removeEventListener("abort", wake);
  stopWaiting();
}

/** The next try ends the call: it was aborted, its run has no time left, or its worker gives the run back. */
function isOver(call: Call): boolean {
  return call.signal?.aborted === true || wallLeft(call) === 0 || releaseOf(call)?.isRequested === true;
}

/** Calls inside a call still begin when a worker drains. */
function releaseOf({ caller, host, scope }: Call): RunRelease | undefined {
  return caller === undefined ? host.claimed.get(scope.root.identity.runId)?.release : undefined;
}
