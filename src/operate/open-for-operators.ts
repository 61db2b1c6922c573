/** The store of a runtime, for faces that stay open: checked before each use, with the commands that fit its address. */
import { useRuntime } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/store.ts";
import type { CommandSyntax } from "./commands.ts";
import { syntaxFor } from "./runtime-operations.ts";

export interface OperatedStore {
  readonly store: Store;
  readonly syntax: CommandSyntax;
}

/** @throws TOOL_STORE_FAILED if the store is no longer at its path, and errors of opening it */
export async function openForOperators(runtime: Runtime): Promise<OperatedStore> {
  await runtime.ready();
  return useRuntime(runtime, async ({ host: { store }, address }) => {
    store.assertInPlace?.();
    return { store, syntax: syntaxFor(address) };
  });
}

/** A text that differs after any commit, even of another process. */
export async function readVersion({ store }: Pick<OperatedStore, "store">): Promise<string> {
  return (await store.version?.()) ?? String(performance.now());
}
