/** `toolwright fork` and `toolwright revert`, as a user runs them. Effects are lines of a file outside. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder, toolwright } from "./command.ts";

const WORKFLOW = `
import { appendFileSync } from "node:fs";
import { createWorkflows, defineTool } from "toolwright";
import { z } from "zod";
const note = (line) => appendFileSync(new URL("effects.txt", import.meta.url), line + "\\n");
const options = { schema: z.object({ what: z.string() }), sideEffect: true, idempotent: false, acceptsIdempotencyKey: false };
const book = defineTool({ ...options, name: "book", execute: async ({ what }) => note("book " + what),
  revert: async ({ what }) => {
    if (what === "flight" && process.env.NO_REFUND) throw Object.assign(new Error("no refund"), { effect: "none" });
    note("cancel " + what);
  },
  revertNeedsApproval: ({ what }) => what === "hotel" });
const mail = defineTool({ ...options, name: "mail", execute: async ({ what }) => note("mail " + what) });
const { Workflow, Task, workflow } = createWorkflows({ output: z.object({}) });
export default workflow(() => (
  <Workflow name="trip">
    <Task id="hotel">{async () => { await book.execute({ what: "hotel" }); }}</Task>
    <Task id="flight">{async () => { await book.execute({ what: "flight" }); }}</Task>
    <Task id="tell">{async () => { await mail.execute({ what: "all" }); }}</Task>
  </Workflow>
));
`;

test("a run is reverted step by step, with the exit codes of each, and forked", async () => {
  const folder = createFolder({ "w.tsx": WORKFLOW });
  const effects = () => readFileSync(join(folder, "effects.txt"), "utf8").trim().split("\n");
  await toolwright(folder, ["up", "w.tsx", "--run-id", "t1"]);
  const shown = await toolwright(folder, ["revert", "t1", "--dry-run"]);
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("would be reverted")]);
  expect(effects()).toHaveLength(3);
  const forked = await toolwright(folder, ["fork", "t1", "--at", "tell", "--json"]);
  const { runId } = forked.json() as { runId: string };
  expect([forked.code, forked.json()]).toEqual([
    0,
    expect.objectContaining({ copied: { tasks: 2, calls: 2 } }),
  ]);
  expect((await toolwright(folder, ["inspect", runId])).stdout).toContain("fork of   t1, from tell");
  // The mail was sent by the parent: the fork waits for an answer.
  expect((await toolwright(folder, ["resume", runId])).code).toBe(3);
  expect(effects()).toHaveLength(3);
  const failed = await toolwright(folder, ["revert", "t1", "--from", "flight"], { env: { NO_REFUND: "1" } });
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("no refund")]);
  const waiting = await toolwright(folder, ["revert", "t1", "--json"]);
  const report = waiting.json() as { pending: { approvalId: string }[] };
  expect(report).toMatchObject({ pending: [{ tool: "book", nodeId: "hotel" }] });
  expect(waiting.code).toBe(3);
  expect(effects().slice(3)).toEqual(["cancel flight"]);
  for (const { approvalId } of report.pending) {
    const resumed = await toolwright(folder, ["approve", approvalId, "--resume"]);
    expect([resumed.code, resumed.stderr]).toEqual([1, expect.stringContaining("Nothing was decided")]);
    const { code, stdout } = await toolwright(folder, ["approve", approvalId]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/Continue with: .*revert t1/)]);
  }
  const done = await toolwright(folder, ["revert", "t1"]);
  expect([done.code, done.stdout]).toEqual([
    4,
    expect.stringMatching(/mail in tell.*has no revert function/),
  ]);
  expect(effects().slice(3)).toEqual(["cancel flight", "cancel hotel"]);
  expect((await toolwright(folder, ["calls", "t1"])).stdout).toMatch(/^revert +1 +\d+ +revert:book /m);
  expect((await toolwright(folder, ["resume", "t1"])).code).toBe(1);
});

test("a run whose file is not on this machine is reverted with the workflow that the config names", async () => {
  const folder = createFolder({ "w.tsx": WORKFLOW });
  await toolwright(folder, ["up", "w.tsx", "--run-id", "t1"]);
  renameSync(join(folder, "w.tsx"), join(folder, "moved.tsx"));
  writeFileSync(
    join(folder, "toolwright.config.ts"),
    'export default { workflows: { trip: "./moved.tsx" } };\n',
  );
  const reverted = await toolwright(folder, ["revert", "t1", "--from", "flight", "--json"]);
  expect(reverted.json()).toMatchObject({
    reverted: [{ tool: "book", nodeId: "flight" }],
    left: [{ tool: "mail", reason: expect.stringContaining("has no revert function") as string }],
  });
});

test("bad input exits with 1 and says what to do", async () => {
  const folder = createFolder({ "w.tsx": WORKFLOW });
  await toolwright(folder, ["up", "w.tsx", "--run-id", "t1"]);
  const stderrOf = async (...args: string[]) => {
    const { code, stderr } = await toolwright(folder, args);
    expect(code).toBe(1);
    return stderr;
  };
  expect(await stderrOf("fork", "t1")).toContain('"hotel", "flight", "tell"');
  expect(await stderrOf("fork", "t1", "--at", "nowhere")).toContain("no task and no call");
  expect(await stderrOf("revert", "none")).toContain('no run "none"');
});
