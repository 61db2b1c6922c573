/** A process that is killed at each named point of a revert: each effect is reverted, under one key. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CRASH_POINTS } from "../../src/testing/index.ts";
import { shopProgram } from "./shop-program.ts";

test("rule 39: killed at every point in turn, each effect is reverted once, newest first", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-crash-revert-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = shopProgram("revert-orders");
  await program.run({ args: [folder, ""] });
  for (const crashAt of CRASH_POINTS) {
    const { crashed } = await program.run({ crashAt, args: [folder, "revert"] });
    expect([crashAt, crashed]).toEqual([crashAt, true]);
  }
  const { stdout } = await program.run({ args: [folder, "revert"] });
  expect(stdout).toBe("3,0,0,0\n");
  const lines = readFileSync(join(folder, "effects.txt"), "utf8").trim().split("\n");
  const cancelled = lines.filter((line) => line.startsWith("cancel"));
  // A repeated request has the same key, so that a service sees one cancellation of each order.
  expect([...new Set(cancelled)].map((line) => line.split(" ")[1])).toEqual(["3", "2", "1"]);
  expect(lines.filter((line) => line.startsWith("order"))).toHaveLength(3);
});
