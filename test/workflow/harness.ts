/** What the tests of workflows share: a store in a folder of its own, agents on a script, and a look into the tables. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolLoopAgent } from "ai";
import { createScriptedModel, type ScriptedModel, type ScriptedTurn } from "toolwright/testing";
import { onTestFinished } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { all, change, type Row, type SqlValue } from "../../src/store/statement.ts";

/** Gone after the test that asked for it. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-workflow-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function createStorePath(): string {
  return join(createFolder(), "runs.db");
}

/** Reads any table, through a connection of its own. */
export async function rowsOf(address: string, sql: string, ...parameters: SqlValue[]): Promise<Row[]> {
  const store = await openStore(address);
  try {
    return [...(await store.read(() => all(sql, ...parameters)))];
  } finally {
    await store.close();
  }
}

/** From here on every runtime so far counts as a dead process. */
export async function endAllOwners(address: string): Promise<void> {
  const store = await openStore(address);
  try {
    await store.transaction(() => change("UPDATE toolwright_owners SET ended_at_ms = {now}"), "normal");
  } finally {
    await store.close();
  }
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

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2));
}
