/** Opens the store that a command was told of. Looking at runs never makes a store where there is none. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ToolwrightError } from "../errors.ts";
import { isPostgresAddress, openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { countCalls } from "../store/tables/call-log.ts";
import { assertNotDeleted } from "../store/tables/tombstones.ts";
import { readRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { CliError } from "./cli-error.ts";
import { nextCommand, withoutPassword } from "./command-name.ts";

export function storeExists(path: string): boolean {
  return isPostgresAddress(path) || path === ":memory:" || existsSync(path);
}

export function assertStoreExists(path: string): void {
  if (storeExists(path)) return;
  throw new CliError(
    "CLI_STORE_MISSING",
    `There is no store ${resolve(path)}.`,
    "Name the store with --store, or start a run with: toolwright up <file>",
  );
}

export async function withStore<T>(path: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(path);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Like `withStore`, for a run that has to be there. */
export async function withRun<T>(
  path: string,
  runId: string,
  work: (store: Store, run: WorkflowRunRow) => Promise<T>,
): Promise<T> {
  assertStoreExists(path);
  return withStore(path, async (store) => work(store, await readKnownRun(store, path, runId)));
}

export async function readKnownRun(store: Store, path: string, runId: string): Promise<WorkflowRunRow> {
  const run = await store.read(() => readRun(runId));
  if (run !== undefined) return run;
  await store.read(() => assertNotDeleted(runId));
  if ((await store.read(() => countCalls(runId))) > 0) {
    throw new ToolwrightError("TOOL_RUN_NOT_FOUND", `Run "${runId}" is a program's, not a workflow's.`, {
      hint: `It is continued by its program, or by the same command with --run-id. See its calls: ${nextCommand(path, "calls", runId)}`,
    });
  }
  throw new ToolwrightError("TOOL_RUN_NOT_FOUND", `There is no run "${runId}" in ${withoutPassword(path)}.`, {
    hint: `List its runs: ${nextCommand(path, "ps")}`,
  });
}
