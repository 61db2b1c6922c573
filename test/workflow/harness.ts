/** Shared by the tests of workflows: a store in a separate folder, scripted agents, and access to the tables. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolLoopAgent } from "ai";
import { createScriptedModel, type ScriptedModel, type ScriptedTurn } from "toolwright/testing";
import { beforeEach, onTestFinished } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { all, change, type Row, type SqlValue } from "../../src/store/statement.ts";
import { emptyPostgresSchema } from "../postgres/fresh-postgres.ts";

/** Deleted after the test. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-workflow-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The same holds on both stores: vitest.config.ts has a project that runs these tests on PostgreSQL. */
const isPostgres = process.env["TOOLWRIGHT_TEST_STORE"] === "postgres";

const STORES_OF_A_TEST = 2;
const spare: (AsyncDisposable & { readonly address: string })[] = [];

// Prepared before the tests, since they use it synchronously.
if (isPostgres) {
  beforeEach(async () => {
    while (spare.length < STORES_OF_A_TEST) spare.push(await emptyPostgresSchema());
  });
}

/** The address of a new store for one test: a file that does not exist yet, or an empty schema. */
export function createStorePath(): string {
  if (!isPostgres) return join(createFolder(), "runs.db");
  const schema = spare.pop();
  if (schema === undefined) throw new Error(`a test has ${STORES_OF_A_TEST} stores at most`);
  onTestFinished(() => schema[Symbol.asyncDispose]());
  return schema.address;
}

/** Reads any table, through a separate connection. */
export async function rowsOf(address: string, sql: string, ...parameters: SqlValue[]): Promise<Row[]> {
  const store = await openStore(address);
  try {
    return [...(await store.read(() => all(sql, ...parameters)))];
  } finally {
    await store.close();
  }
}

/** Changes any table, as another process would. */
export async function changeRows(address: string, sql: string): Promise<void> {
  const store = await openStore(address);
  try {
    await store.transaction(() => change(sql), "normal");
  } finally {
    await store.close();
  }
}

/** From here on every runtime so far counts as a dead process. */
export function endAllOwners(address: string): Promise<void> {
  return changeRows(address, "UPDATE toolwright_owners SET ended_at_ms = {now}");
}

export interface ScriptedAgent {
  readonly agent: ToolLoopAgent;
  readonly model: ScriptedModel;
}

/** The last turn is repeated. */
export function scriptedAgent(
  script: readonly ScriptedTurn[],
  settings: Partial<ConstructorParameters<typeof ToolLoopAgent>[0]> = {},
): ScriptedAgent {
  const model = createScriptedModel(script, { atEnd: "repeat-last" });
  return { model, agent: new ToolLoopAgent({ ...settings, model }) };
}

export async function until(condition: () => boolean | Promise<boolean>, everyMs = 2): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, everyMs));
}
