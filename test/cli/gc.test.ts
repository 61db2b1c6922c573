/** `toolwright gc`, as a user or a timer would run it. */
import { expect, test } from "vitest";
import { createFolder, toolwright } from "./command.ts";
import { EFFECTS } from "./workflows.ts";

async function folderWithRun(): Promise<string> {
  const folder = createFolder({ "w.tsx": EFFECTS });
  await toolwright(folder, ["up", "w.tsx", "--run-id", "old"]);
  return folder;
}

test("counts, then deletes, and reports a deleted run as deleted", async () => {
  const folder = await folderWithRun();
  const counted = await toolwright(folder, ["gc", "--older-than", "0s", "--dry-run"]);
  expect([counted.code, counted.stdout]).toEqual([
    0,
    expect.stringMatching(/^Would delete 1 run with \d+ calls?\./),
  ]);
  expect((await toolwright(folder, ["gc"])).stdout).toMatch(/^Deleted 0 runs/);
  const deleted = await toolwright(folder, ["gc", "--older-than", "0s", "--json"]);
  expect(deleted.json()).toMatchObject({ dryRun: false, deletedRuns: 1 });
  expect((await toolwright(folder, ["ps", "--json"])).json()).toEqual([]);
  for (const command of ["resume", "inspect", "why"]) {
    const { code, stderr } = await toolwright(folder, [command, "old"]);
    expect([command, code, stderr]).toEqual([
      command,
      1,
      expect.stringMatching(/Run "old" was deleted by retention on \d{4}-\d\d-\d\d\.\n {2}Start a new run/),
    ]);
  }
  const again = await toolwright(folder, ["up", "w.tsx", "--run-id", "old"]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("was deleted by retention")]);
});

test("an invalid age is refused with the accepted format", async () => {
  const folder = await folderWithRun();
  const { code, stderr } = await toolwright(folder, ["gc", "--older-than", "soon"]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("It must be a number with a unit: s, m, h, d or w, as in 30d."),
  ]);
});

test("creates no store if there is none", async () => {
  const { code, stderr } = await toolwright(createFolder(), ["gc"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("There is no store")]);
});
