/** Every printed command works when it is pasted, and every hint leads to a fix. */
import { writeFileSync } from "node:fs";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createRuntime, defineTool, type Runtime } from "toolwright";
import { createMcpServer } from "toolwright/mcp";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { bundled } from "../started-programs.ts";
import { createFolder, toolwright } from "./command.ts";
import { commandsIn, paste } from "./paste.ts";
import { QUESTIONS } from "./workflows.ts";

const pay = defineTool({
  name: "pay",
  schema: z.object({ euros: z.number() }),
  sideEffect: true,
  idempotent: true,
  needsApproval: true,
  execute: ({ euros }) => ({ paid: euros }),
});

function openRuntime(folder: string, name = "shop.db"): Runtime {
  const runtime = createRuntime({ store: join(folder, name) });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
  return runtime;
}

async function callOverMcp(runtime: Runtime): Promise<{ hint: string; id: string }> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createMcpServer({ tools: [pay], runtime, approvals: "wait" }).connect(far);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(near);
  const { content, _meta: meta } = await client.callTool({ name: "pay", arguments: { euros: 7 } });
  await client.close();
  const { next_action_hint: hint } = JSON.parse((content as { text: string }[])[0]?.text ?? "") as {
    next_action_hint: string;
  };
  return { hint, id: String(meta?.["toolwright/approval-id"]) };
}

it("the commands in an MCP approval hint name the store, and work in any folder", async () => {
  const folder = createFolder();
  const runtime = openRuntime(folder);
  const { hint, id } = await callOverMcp(runtime);
  const commands = commandsIn(hint);
  expect(commands).toHaveLength(2);
  expect(commands[0]).toContain(`--store ${join(folder, "shop.db")}`);
  const approved = paste(createFolder(), commands[0] ?? "");
  expect(approved).toMatchObject({ code: 0, output: expect.stringContaining(`approved ${id}`) as string });
  expect(approved.output).toContain("from the MCP client");
  expect(approved.output).not.toContain("--run-id");
});

it("a server with an in-memory store suggests no command", async () => {
  const runtime = createRuntime({ store: ":memory:" });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
  const { hint } = await callOverMcp(runtime);
  expect(commandsIn(hint)).toEqual([]);
  expect(hint).toContain("in memory");
});

it("after the approval of a program's call, the hint names the program", async () => {
  const folder = createFolder();
  const runtime = openRuntime(folder, "toolwright.db");
  const asked = await runtime.call(pay, { euros: 7 }, { runId: "monday" });
  if (asked.status !== "pending") throw new Error(asked.status);
  const { output } = paste(folder, `toolwright approve ${asked.approval.id}`);
  expect(output).toContain(
    "Run the program again, with the same run id monday: it continues with this decision.",
  );
  expect(await runtime.call(pay, { euros: 7 }, { runId: "monday" })).toMatchObject({ status: "success" });
});

it("every command that a waiting run and its explanation print works", async () => {
  const folder = createFolder({ "w.tsx": QUESTIONS });
  const waiting = await toolwright(folder, ["up", "w.tsx", "--run-id", "a run", "--store", "my runs.db"]);
  expect(waiting.code).toBe(3);
  const why = await toolwright(folder, ["why", "a run", "--store", "my runs.db"]);
  const printed = [...commandsIn(waiting.stdout), ...commandsIn(why.stdout)];
  const looking = printed.filter((command) => / (?:why|inspect|approvals|calls|ps) /.test(command));
  expect(looking.map((command) => paste(folder, command)).filter(({ code }) => code !== 0)).toEqual([]);
  const approve = printed.find((command) => / approve /.test(command)) ?? "";
  const approved = paste(folder, approve);
  expect(approved).toMatchObject({ code: expect.toSatisfy((code) => code === 0 || code === 3) as number });
});

it("approvals and why print commands that decide and, if possible, resume", async () => {
  const folder = createFolder({ "w.tsx": QUESTIONS });
  await toolwright(folder, ["up", "w.tsx", "--run-id", "q"]);
  const runtime = openRuntime(folder, "toolwright.db");
  await runtime.call(pay, { euros: 7 }, { runId: "monday" });
  const approvals = await toolwright(folder, ["approvals"]);
  const [ofRun, , ofProgram] = commandsIn(approvals.stdout);
  expect(approvals.stdout).toContain("Approve it, and resume:");
  // Only the program itself can resume its run.
  expect(ofProgram).not.toContain("--resume");
  expect(paste(folder, ofProgram ?? "")).toMatchObject({ code: 0 });
  const task = await toolwright(folder, ["why", "q"]);
  expect(task.stdout).toContain('Task "start" waits for approval: Shall we begin? (apr_');
  // The first request is decided, and the run resumes up to the second one.
  expect(paste(folder, ofRun ?? "")).toMatchObject({ code: 3 });
  const why = await toolwright(folder, ["why", "q"]);
  expect(why.stdout).toContain(
    'The call of "pay" in task "pay" with {"euros":70} waits for approval: Pay 70 euros? (apr_',
  );
  const commands = commandsIn(why.stdout);
  expect(commands).toEqual([
    expect.stringMatching(/ approve apr_\S+ --resume$/),
    expect.stringMatching(/ deny apr_\S+ --resume$/),
  ]);
  expect(paste(folder, commands[0] ?? "")).toMatchObject({ code: 0 });
});

it("a workflow that a program started gets no resume command without its file", async () => {
  const folder = createFolder({
    "w.tsx": QUESTIONS,
    "program.ts": `
import { createRuntime, runWorkflow } from "toolwright";
const { default: workflow } = await import("./w.tsx");
await using runtime = createRuntime({ store: "toolwright.db" });
await runWorkflow(workflow, { runtime, runId: "p" });
`,
  });
  const { preloadFlags } = await import("../../src/load/preload.ts");
  execFileSync(process.execPath, [...preloadFlags(), "program.ts"], { cwd: folder });
  for (const printed of [await toolwright(folder, ["approvals"]), await toolwright(folder, ["why", "p"])]) {
    expect(commandsIn(printed.stdout).filter((one) => / approve /.test(one))).toHaveLength(1);
    expect(printed.stdout).not.toContain("--resume");
    expect(commandsIn(printed.stdout).filter((one) => / resume /.test(one))).toEqual([]);
  }
  const [approve = ""] = commandsIn((await toolwright(folder, ["approvals"])).stdout);
  const approved = paste(folder, approve);
  expect(approved).toMatchObject({ code: 0 });
  expect(approved.output).toContain("Continue with the program that started it");
  // From another folder too: the message says what is missing.
  const store = join(folder, "toolwright.db");
  const elsewhere = await toolwright(createFolder(), ["resume", "p", "--store", store]);
  expect(elsewhere.stderr).toMatch(/was started by a program, so its file is not stored[^]*--file/);
  const resumed = await toolwright(createFolder(), [
    "resume",
    "p",
    "--store",
    store,
    "--file",
    join(folder, "w.tsx"),
  ]);
  expect(resumed).toMatchObject({ code: 3 });
});

it("why prints a cancel command that works for agents and programs too", async () => {
  const folder = createFolder();
  const runtime = openRuntime(folder, "toolwright.db");
  const program = bundled(new URL("../operate/programs/interrupted-runs.ts", import.meta.url));
  const store = join(folder, "toolwright.db");
  const child = spawn(process.execPath, [program, store], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const living = await toolwright(folder, ["cancel", "program"]);
  expect(living).toMatchObject({ code: 1, stderr: expect.stringMatching(/only that program can stop it/) });
  child.kill("SIGKILL");
  await once(child, "close");
  await runtime.enqueue("clerk", { kind: "agent", runId: "queued" });
  for (const runId of ["program", "bare", "queued"]) {
    const why = await toolwright(folder, ["why", runId]);
    const cancel = commandsIn(why.stdout).filter((command) => / cancel /.test(command));
    expect(cancel).toHaveLength(1);
    const cancelled = paste(folder, cancel[0] ?? "");
    expect(cancelled).toMatchObject({ code: 0, output: expect.stringContaining("is stopped") as string });
    expect(await runtime.describeRun(runId)).toMatchObject({ status: "cancelled" });
  }
  // Only its program continues a program, and a worker what was enqueued.
  expect(paste(folder, "toolwright cancel program").output).toMatch(
    /already stopped[^]*run its program again/,
  );
  expect((await toolwright(folder, ["cancel", "queued"])).stdout).toContain("resume queued");
});

it("why of a failed program prints a command that lists its calls, even if it made none", async () => {
  const folder = createFolder();
  const runtime = openRuntime(folder, "toolwright.db");
  const fail = (): Promise<never> => Promise.reject(new Error("no such customer"));
  await expect(runtime.run({ runId: "p" }, fail)).rejects.toThrow("no such customer");
  const [calls = ""] = commandsIn((await toolwright(folder, ["why", "p"])).stdout);
  expect(calls).toMatch(/ calls p$/);
  expect(paste(folder, calls)).toMatchObject({ code: 0, output: "The run made no calls.\n" });
  const filtered = await toolwright(folder, ["calls", "p", "--tool", "pay"]);
  expect(filtered).toMatchObject({ code: 0, stdout: "No call of the run matches --tool pay.\n" });
});

it("fork and why print a resume that works for a workflow, and name the program of anything else", async () => {
  const folder = createFolder({ "w.tsx": QUESTIONS });
  const runtime = openRuntime(folder, "toolwright.db");
  const look = defineTool({ name: "look", schema: z.object({}), execute: () => "seen" });
  await runtime.run({ runId: "program" }, () => runtime.call(look, {}));
  const ofProgram = await toolwright(folder, ["fork", "program", "--at", "main"]);
  expect(ofProgram).toMatchObject({ code: 0 });
  expect(commandsIn(ofProgram.stdout)).toEqual([]);
  expect(ofProgram.stdout).toContain("To start it, run its program again with the same run id.");
  const [{ runId = "" } = {}] = (await runtime.runs({ status: "queued" })).runs;
  expect(await runtime.explainRun(runId)).toMatchObject({
    because: [expect.stringContaining("has not started"), expect.stringContaining("run its program again")],
  });
  expect((await runtime.describeRun(runId)).why).toContain("its own program starts it");

  await toolwright(folder, ["up", "w.tsx", "--run-id", "q"]);
  const ofWorkflow = await toolwright(folder, ["fork", "q"]);
  const [resume = ""] = commandsIn(ofWorkflow.stdout);
  const forked = resume.split(" ").at(-1) ?? "";
  const why = await toolwright(folder, ["why", forked]);
  expect(commandsIn(why.stdout)).toContain(resume);
  expect(paste(folder, resume)).toMatchObject({ code: 3 });
});

it("after a denial, why says that a resume does not request approval again", async () => {
  const folder = createFolder({ "w.tsx": QUESTIONS });
  await toolwright(folder, ["up", "w.tsx", "--run-id", "q"]);
  const why = await toolwright(folder, ["why", "q"]);
  const deny = commandsIn(why.stdout).find((one) => / deny /.test(one)) ?? "";
  // The printed command resumes too; without --resume, the run waits for a resume.
  expect(deny).toMatch(/ --resume$/);
  expect(paste(folder, deny.replace(/ --resume$/, ""))).toMatchObject({ code: 0 });
  const decided = await toolwright(folder, ["why", "q"]);
  expect(decided.stdout).toMatch(/was denied.*does not ask again.*start a new run/i);
  await toolwright(folder, ["resume", "q"]);
  const ended = await toolwright(folder, ["why", "q"]);
  expect(commandsIn(ended.stdout).filter((one) => / resume /.test(one))).toEqual([]);
});

it("a run in an in-memory store prints no command, since none could find it", async () => {
  const folder = createFolder({ "w.tsx": QUESTIONS });
  const waiting = await toolwright(folder, ["up", "w.tsx", "--store", ":memory:"]);
  expect(waiting.code).toBe(3);
  expect(commandsIn(waiting.stdout)).toEqual([]);
  expect(waiting.stdout).toContain("--store <file>");
});

it("JSX that was compiled for React gets a hint about jsxImportSource", async () => {
  const workflow = `
/** @jsxRuntime classic */
import { createSmithers } from "toolwright";
import { z } from "zod";
const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.object({}) });
export default smithers(() => <Workflow name="w"><Task id="t" output={outputs.output}>{{}}</Task></Workflow>);
`;
  const folder = createFolder({ "w.tsx": workflow });
  const failed = await toolwright(folder, ["up", "w.tsx"]);
  expect(failed.code).toBe(1);
  expect(`${failed.stdout}${failed.stderr}`).toMatch(/React is not defined[^]*jsxImportSource/);
});

it("a prompt without an agent gets a hint about the agent", async () => {
  const workflow = `
import { createSmithers } from "toolwright";
import { z } from "zod";
const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.object({ ok: z.boolean() }) });
export default smithers(() => <Workflow name="w"><Task id="t" output={outputs.output}>Say whether it is ok.</Task></Workflow>);
`;
  const folder = createFolder({ "w.tsx": workflow });
  const failed = await toolwright(folder, ["up", "w.tsx", "--run-id", "r"]);
  expect(failed.stdout).toMatch(/contains text but has no agent/);
  expect((await toolwright(folder, ["why", "r"])).stdout).toContain("add an agent");
});

it("the printed command resumes a workflow that could not be planned, after the fix", async () => {
  const workflow = (props: string): string => `
import { createSmithers } from "toolwright";
const { Workflow, Task, smithers } = createSmithers({});
export default smithers(() => <Workflow name="w"><Task id="t" ${props}>{1}</Task></Workflow>);
`;
  const folder = createFolder({ "w.tsx": workflow("requiresApproval") });
  const failed = await toolwright(folder, ["up", "w.tsx", "--run-id", "r"]);
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain('Did you mean "needsApproval"?');
  const explained = await toolwright(folder, ["why", "r"]);
  expect(explained.stdout).toContain("Its props are id, output,");
  const [command = ""] = commandsIn(explained.stdout);
  expect(failed.stdout).toContain(command);
  writeFileSync(join(folder, "w.tsx"), workflow("retries={0}"));
  expect(paste(folder, command)).toMatchObject({ code: 0 });
});

it("the same tool command under the same run id says that it returns the recorded result", async () => {
  const config = `
import { defineTool } from "toolwright";
import { z } from "zod";
export default { tools: [defineTool({ name: "greet", schema: z.object({}), execute: () => "hello" })] };
`;
  const folder = createFolder({ "toolwright.config.ts": config });
  const first = await toolwright(folder, ["greet", "--run-id", "r"]);
  expect(first).toMatchObject({ code: 0, stdout: "hello\n" });
  expect(first.stderr).not.toContain("recorded answer");
  const again = await toolwright(folder, ["greet", "--run-id", "r"]);
  expect(again).toMatchObject({ code: 0, stdout: "hello\n" });
  expect(again.stderr).toContain("logged result of this run");
});
