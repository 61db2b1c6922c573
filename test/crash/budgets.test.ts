/** Budgets of a run whose process is killed repeatedly in the same call. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCrashProgram } from "../../src/testing/index.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { bundled } from "../started-programs.ts";

const program = createCrashProgram(bundled(new URL("./programs/spend.ts", import.meta.url)));

async function spendAgain(storeKind: (typeof STORE_KINDS)[number], maxExecutions: number) {
  await using store = await storeKind.fresh();
  const folder = mkdtempSync(join(tmpdir(), "toolwright-budgets-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const lines = join(folder, "lines.txt");
  const args = [store.address, lines, String(maxExecutions)];
  for (let kills = 0; kills < 4; kills += 1) {
    const { crashed, stdout } = await program.run({ args, crashAt: "in-effect" });
    if (!crashed) return { kills, said: stdout.trim().split("\n"), entered: readFileSync(lines, "utf8") };
  }
  throw new Error("no budget ended it");
}

describe.each(STORE_KINDS)("on $name", (storeKind) => {
  test("rule 24: maxExecutionsPerRun counts executions that were killed", async () => {
    expect(await spendAgain(storeKind, 2)).toEqual({
      kills: 2,
      said: ["maxExecutionsPerRun", "0.8"],
      entered: "run-1\nrun-1\n",
    });
  });

  test("rule 24: maxCostUsd counts the costs that killed executions reported", async () => {
    expect(await spendAgain(storeKind, 9)).toEqual({
      kills: 3,
      said: ["maxCostUsd", "1.2"],
      entered: "run-1\n".repeat(3),
    });
  });
});
