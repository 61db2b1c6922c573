/** The quickstarts of docs/start and the skill, pasted into an empty folder and followed command by command. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
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

function run(folder: string, ...args: readonly string[]) {
  return spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
}

function linesOf(folder: string, file: string): string[] {
  return readFileSync(join(folder, file), "utf8").trim().split("\n");
}
