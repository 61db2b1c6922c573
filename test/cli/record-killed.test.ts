/** `toolwright record --out`, killed at every step of the writing: the fixture is complete, or the old one, or absent. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createFolder, toolwright } from "./command.ts";

const WORKFLOW = `
import { createWorkflows } from "toolwright";
import { z } from "zod";
const { Workflow, Task, workflow, outputs } = createWorkflows({ output: z.object({ text: z.string() }) });
export default workflow(() => (
  <Workflow name="long">
    <Task id="write" output={outputs.output}>{() => ({ text: "long text ".repeat(20_000) })}</Task>
  </Workflow>
));
`;

/** Everything that is stored, except for the processes that have opened the store. */
function rowsOf(store: string): string {
  using database = new DatabaseSync(store, { readOnly: true });
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'toolwright%' ORDER BY name")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => name !== "toolwright_owners");
  return JSON.stringify(tables.map((name) => [name, database.prepare(`SELECT * FROM ${name}`).all()]));
}

test("killed at every step, it leaves a whole fixture, the old one or none, and the run as it is", async () => {
  const folder = createFolder({
    "long.tsx": WORKFLOW,
    "toolwright.config.ts": 'export default { recording: "keep" };',
  });
  const fixtures = join(folder, "fixtures");
  const file = join(fixtures, "r1.fixture.json");
  mkdirSync(fixtures);
  expect((await toolwright(folder, ["up", "long.tsx", "--run-id", "r1"])).code).toBe(0);
  const rows = rowsOf(join(folder, "toolwright.db"));
  const whole = (await toolwright(folder, ["record", "r1"])).stdout;
  expect(whole.length).toBeGreaterThan(100_000);
  const left = new Set<string>();
  for (const before of [undefined, "the old one"]) {
    for (let step = 0; ; step += 1) {
      if (before === undefined) rmSync(file, { force: true });
      else writeFileSync(file, before);
      const { code } = await toolwright(folder, ["record", "r1", "--out", "fixtures/r1.fixture.json"], {
        env: {
          NODE_OPTIONS: `--require ${resolve(import.meta.dirname, "kill-at.cjs")}`,
          KILL_AT: String(step),
          KILL_IN: "r1.fixture.json",
        },
      });
      const text = existsSync(file) ? readFileSync(file, "utf8") : undefined;
      expect([before, whole]).toContain(text);
      left.add(`${before ?? "none"}: ${text === whole ? "whole" : "as before"}`);
      if (code === 0) {
        expect(text).toBe(whole);
        // Open, write, sync, close, rename: with two steps each, and one in the middle of the write.
        expect(step).toBeGreaterThanOrEqual(11);
        break;
      }
      expect(code).toBeNull();
    }
  }
  expect([...left].sort()).toEqual([
    "none: as before",
    "none: whole",
    "the old one: as before",
    "the old one: whole",
  ]);
  // What a killed process leaves does not have the name of a fixture.
  expect(readdirSync(fixtures).filter((name) => name.endsWith(".fixture.json"))).toEqual(["r1.fixture.json"]);
  expect(rowsOf(join(folder, "toolwright.db"))).toBe(rows);
  expect((await toolwright(folder, ["replay", "fixtures/r1.fixture.json", "long.tsx"])).code).toBe(0);
});

test("a file that cannot be written is named, and nothing is left behind", async () => {
  const folder = createFolder({
    "long.tsx": WORKFLOW,
    "toolwright.config.ts": 'export default { recording: "keep" };',
  });
  await toolwright(folder, ["up", "long.tsx", "--run-id", "r1"]);
  const missing = await toolwright(folder, ["record", "r1", "--out", "nowhere/r1.fixture.json"]);
  expect([missing.code, missing.stderr]).toEqual([
    1,
    expect.stringContaining("nowhere/r1.fixture.json cannot be written"),
  ]);
  mkdirSync(join(folder, "taken.fixture.json"));
  expect((await toolwright(folder, ["record", "r1", "--out", "taken.fixture.json"])).code).toBe(1);
  expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});
