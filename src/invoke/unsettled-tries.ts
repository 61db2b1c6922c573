/**
 * Interrupted tries that have not settled. Their effect may still happen, so their calls cannot be resolved yet. One map per
 * process, since a runtime may be disposed while its tools still run.
 */
import type { Store } from "../store/store.ts";
import { sharedByCopies } from "../definition/package-copy.ts";

const executing = sharedByCopies("executing", () => new Map<string, Set<Promise<void>>>());

/** @param settled must not reject */
export function noteUnsettledTry(store: Store, key: string, settled: Promise<void>): void {
  const name = nameOf(store, key);
  const tries = executing.get(name) ?? new Set();
  executing.set(name, tries.add(settled));
  void settled.finally(() => {
    tries.delete(settled);
    if (tries.size === 0) executing.delete(name);
  });
}

/** Resolves when no try of the call runs in this process, in any attempt. `undefined` if none runs. */
export function whenTriesSettled(store: Store, key: string): Promise<void> | undefined {
  const tries = executing.get(nameOf(store, key));
  return tries === undefined ? undefined : Promise.all(tries).then(() => undefined);
}

function nameOf(store: Store, key: string): string {
  return `${store.secret} ${key}`;
}
