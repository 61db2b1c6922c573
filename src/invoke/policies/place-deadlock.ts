/**
 * Calls of several processes that wait for each other's places under `concurrency`: each call holds a place, and a call
 * inside it waits for a place that another one holds. No process sees the whole cycle by itself, so waits that last are
 * noted in the store. One of them gives way, as within one process.
 */
import {
  endWaitNote,
  type NestedWait,
  noteWait,
  readHolders,
  readNestedWaits,
} from "../../store/tables/tool-limits.ts";
import { type Call, callsAround } from "../call.ts";

/** The enclosing calls that hold a place while this call waits. */
export function placesAround(call: Call): readonly string[] {
  return [...callsAround(call)].filter(({ placeName }) => placeName !== undefined).map(({ key }) => key);
}

/** Notes that these calls wait for the limit. Returns whether the wait has to give way, because it would never end. */
export async function mustGiveWay(call: Call, name: string, outer: readonly string[]): Promise<boolean> {
  const { host } = call;
  const { waits, holders } = await host.store.transaction(function* () {
    for (const callKey of outer) yield* noteWait(name, { callKey, ownerId: host.ownerId });
    const found = yield* readNestedWaits();
    return { waits: found, holders: yield* readHolders(found.map((wait) => wait.name)) };
  }, "normal");
  // Every process finds the same one.
  const first = endlessWaits(waits, holders)[0];
  return first !== undefined && first.name === name && outer.includes(first.callKey);
}

/** If it fails, the note ends with its call. */
export async function endNotes(call: Call, name: string, outer: readonly string[]): Promise<void> {
  try {
    await call.host.store.transaction(function* () {
      for (const callKey of outer) yield* endWaitNote({ callKey, name });
    }, "normal");
  } catch {
    // A failure of the store surfaces where it matters: the call that waited uses the store next.
  }
}

/** A wait can end if one of the holders can. A holder can if none of its own waits is endless. */
export function endlessWaits(
  waits: readonly NestedWait[],
  holders: ReadonlyMap<string, readonly string[]>,
): readonly NestedWait[] {
  const stuck = new Set(waits.map(({ callKey }) => callKey));
  const endless = waits.filter(({ name }) => {
    const keys = holders.get(name) ?? [];
    return keys.length > 0 && keys.every((key) => stuck.has(key));
  });
  return endless.length === waits.length ? endless : endlessWaits(endless, holders);
}
