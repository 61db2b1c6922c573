/** The README's quickstart, pasted into an empty folder and run as a new user would, with a Ctrl-C in the middle. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { blocksOf, readPage, ROOT } from "./pages.ts";
import { createProject, TOOLWRIGHT } from "./project.ts";

vi.setConfig({ testTimeout: 60_000 });

const quickstart = blocksOf("README.md").find(({ words }) => words.includes("agent.mjs"))?.text ?? "";

test.each(["agent.mjs", "agent.ts"])(
  "the quickstart charges once, interrupted and run again, as %s",
  async (file) => {
    const folder = createProject();
    writeFileSync(join(folder, file), quickstart);

    const first = spawn(process.execPath, [file], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    await once(first.stdout, "data");
    first.kill("SIGINT");
    await once(first, "exit");

    const why = toolwright(folder, "why", "invoice-17");
    expect(why.stdout + why.stderr).toContain("invoice-17");

    const second = spawnSync(process.execPath, [file], { cwd: folder, encoding: "utf8" });
    expect(second.stdout).toBe("Ann paid 42 dollars.\n");
    expect(second.status).toBe(0);
    const payments = readFileSync(join(folder, "payments.txt"), "utf8").trim().split("\n");
    expect(payments).toHaveLength(1);
    expect(payments[0]).toMatch(/^ann paid 4200 cents, key /);

    const calls = toolwright(folder, "calls", "invoice-17");
    expect(calls.stdout).toMatch(/charge_card +success/);
  },
);

test("the README has its parts in order", () => {
  const headings = [...readPage("README.md").matchAll(/^## (.*)$/gm)].map(([, text]) => text);
  expect(headings).toEqual([
    "A double charge, before and after",
    "Quickstart",
    "Three rules",
    "The demo",
    "What it works with",
    "How it compares",
    "Requirements and status",
    "Contributing",
    "Documentation",
  ]);
});

test("the README shows the output of the demo", () => {
  const demo = readFileSync(join(ROOT, "examples/demo/demo.ts"), "utf8");
  const shown = blocksOf("README.md").find(({ language }) => language === "text")?.text ?? "";
  const events = [...shown.matchAll(/start \d: (?:killed )?(.*?) {2,}/g)].map(([, words = ""]) => words);
  expect(events).toHaveLength(9);
  expect(events.filter((words) => !demo.includes(`"${words}"`))).toEqual([]);
});

function toolwright(folder: string, ...words: readonly string[]) {
  return spawnSync(process.execPath, [TOOLWRIGHT, ...words], { cwd: folder, encoding: "utf8" });
}
