/** Opens the store of a command, and turns a missing store or run into an error with the next command. */
import { resolve } from "node:path";
import { CliError } from "./cli-error.ts";
import { nextCommand } from "./command-name.ts";
import { findRun, type FoundRun, withStore } from "../operate/find-run.ts";
import type { Screen } from "./screen.ts";
import { stateOfStore, withoutPassword } from "../operate/store-address.ts";

type OpenStore = Parameters<Parameters<typeof withStore>[1]>[0];
type WorkflowRun = Extract<FoundRun, { kind: "workflow" }>["run"];

export function assertStoreExists(address: string): void {
  const state = stateOfStore(address);
  if (state === "ready") return;
  throw new CliError(
    "CLI_STORE_MISSING",
    state === "missing"
      ? `There is no store ${resolve(address)}.`
      : `${resolve(address)} is a SQLite database without Toolwright tables: no run has used it as a store.`,
    `Name the store with --store, or start a run: ${nextCommand(address, "up", "workflow.tsx")}`,
  );
}

/** For commands that list: a store that does not exist has nothing to list. With --json, a note on stderr reports it. */
export function isNotCreatedYet(address: string, screen: Screen): boolean {
  const state = stateOfStore(address);
  if (state === "foreign") assertStoreExists(address);
  if (state === "missing" && screen.isJson) screen.warn(`There is no store ${resolve(address)}.`);
  return state === "missing";
}

/** Like `withStore`, for a workflow run that must exist. */
export async function withRun<T>(
  address: string,
  runId: string,
  work: (store: OpenStore, run: WorkflowRun) => Promise<T>,
): Promise<T> {
  assertStoreExists(address);
  return withStore(address, async (store) => work(store, await requireRun(store, address, runId)));
}

/** @throws CliError if there is no run with this id, neither of a workflow nor of a program */
export async function assertRunExists(store: OpenStore, address: string, runId: string): Promise<void> {
  if ((await findRun(store, runId)).kind === "missing") throw missingRun(address, runId);
}

/** Like `withStore`, for a run of any kind that must exist. */
export async function withAnyRun<T>(
  address: string,
  runId: string,
  work: (store: OpenStore, runId: string) => Promise<T>,
): Promise<T> {
  assertStoreExists(address);
  return withStore(address, async (store) => {
    await assertRunExists(store, address, runId);
    return work(store, runId);
  });
}

/** @throws CliError if there is no workflow run with this id */
async function requireRun(store: OpenStore, address: string, runId: string): Promise<WorkflowRun> {
  const found = await findRun(store, runId);
  if (found.kind === "workflow") return found.run;
  if (found.kind === "program")
    throw new CliError(
      "TOOL_RUN_NOT_FOUND",
      `Run "${runId}" belongs to a program, not to a workflow.`,
      `To continue it, run its program, or the same command with --run-id. List its calls: ${nextCommand(address, "calls", runId)}`,
    );
  throw missingRun(address, runId);
}

function missingRun(address: string, runId: string): CliError {
  return new CliError(
    "TOOL_RUN_NOT_FOUND",
    `There is no run "${runId}" in ${withoutPassword(address)}.`,
    `List the runs of this store: ${nextCommand(address, "ps")}`,
  );
}
