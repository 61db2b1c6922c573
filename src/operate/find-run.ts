/** Opens a store for one operation, and finds runs in it. */
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { assertNotDeleted } from "../store/tables/tombstones.ts";
import { readRunRow } from "../store/tables/runs.ts";
import { readRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";

export type FoundRun =
  | { readonly kind: "workflow"; readonly run: WorkflowRunRow }
  /** A run of another kind: of an agent, a program or a single call. */
  | { readonly kind: "program" }
  | { readonly kind: "missing" };

export async function withStore<T>(address: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(address);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** @throws TOOL_RUN_DELETED */
export async function findRun(store: Store, runId: string): Promise<FoundRun> {
  const run = await store.read(() => readRun(runId));
  if (run !== undefined) return { kind: "workflow", run };
  await store.read(() => assertNotDeleted(runId));
  return { kind: (await store.read(() => readRunRow(runId))) === undefined ? "missing" : "program" };
}
