/** Approvals from another process: of calls and of nodes, approved, edited and denied. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { insertApproval, type NewApproval } from "../../src/store/tables/approvals.ts";
import { openStore } from "../../src/store/open-store.ts";
import { createFolder, toolwright } from "./command.ts";
import { QUESTIONS } from "./workflows.ts";

interface Request {
  readonly id: string;
  readonly runId: string;
  readonly status: string;
}

async function pending(folder: string): Promise<Request[]> {
  return (await toolwright(folder, ["approvals", "--json"])).json() as Request[];
}

it("waits with exit code 3, is decided in other processes, and resumes", async () => {
  const folder = createFolder({ "w.tsx": QUESTIONS });
  const waiting = await toolwright(folder, ["up", "w.tsx", "--run-id", "q"]);
  expect(waiting.code).toBe(3);
  expect(waiting.stdout).toMatch(
    /waiting q waits for approval\.[^]*Shall we begin\?[^]*approve [^]*resume q/,
  );

  const why = await toolwright(folder, ["why", "q"]);
  expect(why.stdout).toMatch(/waits for approval[^]*Shall we begin\?[^]*Next:\n[^]*approve \S+ --resume\n/);

  const [first] = await pending(folder);
  expect(first).toMatchObject({ runId: "q", status: "pending", nodeId: "start", prompt: "Shall we begin?" });
  expect(await toolwright(folder, ["approve", first?.id ?? ""])).toMatchObject({ code: 0 });
  const decided = await toolwright(folder, ["why", "q", "--json"]);
  expect(decided.json()).toMatchObject({
    next: [{ action: "resume", label: expect.any(String), command: expect.stringMatching(/resume q$/) }],
  });

  expect(await toolwright(folder, ["resume", "q"])).toMatchObject({ code: 3 });
  const [second] = await pending(folder);
  expect(second).toMatchObject({
    toolName: "pay",
    args: { euros: 70 },
    prompt: "Pay 70 euros?",
    decidedBy: null,
  });
  const bad = await toolwright(folder, ["approve", second?.id ?? "", "--args", '{"euros":"x"}']);
  expect(bad.code).toBe(1);
  const edited = ["approve", "q", "--args", '{"euros":7}', "--by", "ann", "--comment", "less", "--json"];
  expect((await toolwright(folder, edited)).json()).toMatchObject({
    id: second?.id,
    status: "approved",
    decidedBy: "ann",
    comment: "less",
    approvedArgs: { euros: 7 },
  });
  const again = await toolwright(folder, ["deny", second?.id ?? ""]);
  expect(again.code).toBe(1);
  expect(again.stderr).toContain('is already "approved"');

  const done = await toolwright(folder, ["resume", "q", "--json"]);
  expect(done.json()).toMatchObject({ status: "finished", output: { paid: 7 } });
  const calls = await toolwright(folder, ["calls", "q", "--json"]);
  expect(calls.json()).toMatchObject([{ toolName: "pay", status: "success", approval: "approved" }]);
});

it("fails when it is denied, with the comment", async () => {
  const folder = createFolder({ "w.tsx": QUESTIONS });
  await toolwright(folder, ["up", "w.tsx", "--run-id", "q"]);
  expect(await toolwright(folder, ["deny", "q", "--comment", "not today"])).toMatchObject({ code: 0 });
  const denied = await toolwright(folder, ["resume", "q"]);
  expect(denied.code).toBe(1);
  expect(denied.stdout).toContain("not today");
  const all = await toolwright(folder, ["approvals", "--status", "all", "--json"]);
  expect(all.json()).toMatchObject([{ status: "denied", comment: "not today" }]);
});

it("shows a model's text without interpreting it, and says where the full text is", async () => {
  const hostile = QUESTIONS.replace(
    "schema: z.object({ euros: z.number() })",
    "schema: z.object({ to: z.string() })",
  )
    .replace(/approvalPrompt: .*/, "approvalPrompt: ({ to }) => `Pay ${to}?`,")
    .replace(
      /execute: .*/,
      'execute: (_, ctx) => { void ctx.idempotencyKey; throw new Error("red \\u001b[31m"); },',
    )
    .replace("{ euros: 70 }", '{ to: "Bo\\u001b[2K\\rPay Al 1 euro " + "x".repeat(300) }')
    .replace(/<Approval .*/, "");
  const folder = createFolder({ "w.tsx": hostile });
  expect(await toolwright(folder, ["up", "w.tsx", "--run-id", "q"])).toMatchObject({ code: 3 });
  const list = await toolwright(folder, ["approvals"]);
  expect(list.stdout).toMatch(/Pay Bo\\u001b\[2K Pay Al[^]*All of it: .* approvals --run q --json/);
  const why = await toolwright(folder, ["why", "q"]);
  const inspect = await toolwright(folder, ["inspect", "q"]);
  await toolwright(folder, ["approve", "q"]);
  const failed = await toolwright(folder, ["resume", "q"]);
  expect(failed.stdout).toContain("red \\u001b[31m");
  for (const { stdout } of [list, why, inspect, failed]) expect(stdout).not.toContain("\u001b");
});

it("lists the oldest of very many requests, and says how many more there are", async () => {
  const folder = createFolder();
  const store = await openStore(join(folder, "toolwright.db"));
  await store.transaction(function* () {
    for (let number = 1; number <= 130; number += 1) yield* insertApproval(request(number));
  }, "normal");
  await store.close();
  const shown = await toolwright(folder, ["approvals"]);
  expect(shown.stdout.match(/^apr_/gm)).toHaveLength(50);
  expect(shown.stdout).toContain("apr_1 ");
  expect(shown.stderr).toContain("80 more are not shown. Use --limit 130 or --run <run-id>.");
  const all = await toolwright(folder, ["approvals", "--limit", "130", "--json"]);
  expect([all.json(), all.stderr]).toMatchObject([{ length: 130 }, ""]);
  const refused = await toolwright(folder, ["approvals", "--limit", "none"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("whole number from 1") });
});

function request(number: number): NewApproval {
  return {
    id: `apr_${number}`,
    kind: "call",
    runId: "r",
    nodeId: "main",
    iteration: 0,
    scopeId: 1,
    callKey: `key ${number}`,
    parentKey: "",
    round: 1,
    toolName: "pay",
    fingerprint: "",
    argsJson: "{}",
    argsHash: "",
    prompt: "Pay?",
    defaultsJson: null,
    contractJson: JSON.stringify({ input: {}, output: null, redactInput: [], redactOutput: [] }),
    hasClearArgs: false,
    requestedAtMs: number,
    expiresAtMs: null,
  };
}
