/** The quickstarts, the skill and the scripts of guides, pasted into an empty folder and followed command by command. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { blocksOf, readPage } from "./pages.ts";
import { pasteProgramsOf, TOOLWRIGHT } from "./project.ts";

vi.setConfig({ testTimeout: 120_000 });

test("the agent quickstart: waits, is approved, crashes, refunds once", () => {
  const folder = pasteProgramsOf("docs/start/agent.md");
  expect(run(folder, "refund.mjs").stdout).toContain("Waiting for approval.\nRefund 4200 cents to ann?");
  expect(run(folder, TOOLWRIGHT, "approvals").stdout).toContain('{"customer":"ann","cents":4200}');
  expect(run(folder, TOOLWRIGHT, "approve", "ticket-9", "--comment", "agreed").status).toBe(0);
  const crashed = spawnSync(process.execPath, ["refund.mjs"], {
    cwd: folder,
    env: { ...process.env, CRASH: "1" },
  });
  expect(crashed.signal).toBe("SIGKILL");
  expect(run(folder, TOOLWRIGHT, "why", "ticket-9").stdout).toContain("was interrupted");
  for (let time = 0; time < 2; time += 1)
    expect(run(folder, "refund.mjs").stdout).toBe("Ann has her refund.\n");
  expect(linesOf(folder, "refunds.txt")).toHaveLength(1);
});

test("the workflow quickstart: finishes, waits, is approved and resumed, runs once", () => {
  const folder = pasteProgramsOf("docs/start/workflow.md");
  const up = (id: string, item: string, quantity: number) =>
    run(folder, TOOLWRIGHT, "up", "order.tsx", "--run-id", id, "--input", JSON.stringify({ item, quantity }));
  expect(up("lunch", "apples", 3).status).toBe(0);
  expect(up("party", "lemonades", 40)).toMatchObject({
    status: 3,
    stdout: expect.stringContaining("Order 40 lemonades for 4000 cents?") as string,
  });
  expect(run(folder, TOOLWRIGHT, "why", "party").stdout).toContain("approve");
  expect(run(folder, TOOLWRIGHT, "approve", "party", "--resume").status).toBe(0);
  expect(linesOf(folder, "orders.txt")).toHaveLength(2);
  expect(run(folder, TOOLWRIGHT, "resume", "party").status).toBe(1);
  const summary = run(folder, TOOLWRIGHT, "up", "summary.tsx", "--input", '{"text": "3 apples"}');
  expect(summary.stdout).toContain('"summary": "Two orders."');
});

test("the three programs of the skill for coding agents", () => {
  const folder = pasteProgramsOf("skills/toolwright/SKILL.md");
  expect(run(folder, "agent.ts").stdout).toBe("Refunded.\n");
  const input = '{"item": "desk", "cents": 90000}';
  const up = run(folder, TOOLWRIGHT, "up", "workflow.tsx", "--run-id", "order-17", "--input", input);
  expect(up).toMatchObject({ status: 3, stdout: expect.stringContaining("Order desk?") as string });
  expect(run(folder, TOOLWRIGHT, "approve", "order-17", "--resume").stdout).toContain('"receipt": "desk ');
  expect(run(folder, TOOLWRIGHT, "shop", "greet", "Ann").stdout).toBe("Hello, Ann.\n");
});

test("the check of an upgrade: records what has finished, and replays it", () => {
  const folder = pasteProgramsOf("docs/start/workflow.md");
  writeFileSync(join(folder, "toolwright.config.ts"), CONFIG);
  const input = JSON.stringify({ item: "apples", quantity: 3 });
  for (const id of ["a", "b"]) run(folder, TOOLWRIGHT, "up", "order", "--run-id", id, "--input", input);
  const [record, replay] = commandsUnder("docs/guides/going-back.md", "### Check an upgrade");
  expect(shell(folder, record)).toMatchObject({ status: 0, stderr: "" });
  expect(readdirSync(join(folder, "fixtures"))).toEqual(["a.fixture.json", "b.fixture.json"]);
  expect(shell(folder, replay).status).toBe(0);
  const order = readFileSync(join(folder, "order.tsx"), "utf8");
  writeFileSync(
    join(folder, "order.tsx"),
    order.replace("placeOrder.call({ item,", 'placeOrder.call({ item: "pear",'),
  );
  expect(shell(folder, replay).status).toBe(1);
});

const CONFIG = `export default { recording: "keep", workflows: { order: "./order.tsx" } };`;

/** The shell blocks of one section of a page. */
function commandsUnder(page: string, heading: string): string[] {
  const lines = readPage(page).split("\n");
  const from = lines.indexOf(heading);
  const to = lines.findIndex((line, index) => index > from && line.startsWith("#"));
  return blocksOf(page).flatMap(({ language, line, text }) =>
    language === "sh" && line > from && line < to ? [text] : [],
  );
}

/** With the built command in place of the installed one. */
function shell(folder: string, commands = "") {
  const npx = `npx() { shift; "${process.execPath}" "${TOOLWRIGHT}" "$@"; }`;
  return spawnSync("sh", ["-c", `${npx}\n${commands}`], { cwd: folder, encoding: "utf8" });
}

function run(folder: string, ...args: readonly string[]) {
  return spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
}

function linesOf(folder: string, file: string): string[] {
  return readFileSync(join(folder, file), "utf8").trim().split("\n");
}
