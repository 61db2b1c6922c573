/**
 * Tries that were cut off and have not settled. Their effect may still happen, so nothing may be decided about their calls
 * yet. Kept per process, since a runtime can be disposed of while its tools are still at work.
 */
import type { Store } from "../store/store.ts";
import { sharedByCopies } from "../definition/package-copy.ts";

const executing = sharedByCopies("executing", () => new Map<string, Set<Promise<void>>>());

export interface ExecutingCall {
  readonly key: string;
  readonly attempt: number;
}

/** @param settled must not reject */
export function noteExecuting(store: Store, call: ExecutingCall, settled: Promise<void>): void {
  const name = nameOf(store, call);
  const tries = executing.get(name) ?? new Set();
  executing.set(name, tries.add(settled));
  void settled.finally(() => {
    tries.delete(settled);
    if (tries.size === 0) executing.delete(name);
  });
}

/** Resolves when no try of the call is at work in this process; `undefined` where none is. */
export function whenExecuted(store: Store, call: ExecutingCall): Promise<void> | undefined {
  const tries = executing.get(nameOf(store, call));
  return tries === undefined ? undefined : Promise.all(tries).then(() => undefined);
}

function nameOf(store: Store, { key, attempt }: ExecutingCall): string {
  return `${store.secret} ${attempt} ${key}`;
}
