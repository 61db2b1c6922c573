/** Rule 37: values hidden by `redact`, or by the rule for `write` and `edit`, leave the store when their task ends. */
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, isStepCount, ToolLoopAgent } from "ai";
import {
  bash,
  createRuntime,
  createSmartAgent,
  createSmithers,
  createWorker,
  defineTool,
  edit,
  type ProgramJob,
  runAgentLoop,
  runWorkflow,
  write,
  type Runtime,
  type Tool,
  type Worker,
} from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { jsx } from "toolwright/jsx-runtime";
import { createScriptedModel } from "toolwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { serve } from "../anthropic/harness.ts";

const SECRET = "hunter2-in-clear";
const messages = [{ role: "user" as const, content: "Go." }];

interface Place {
  readonly folder: string;
  readonly runtime: Runtime;
  /** Disposes the runtime, and searches every byte of the store's files. */
  expectNowhere(...texts: string[]): Promise<void>;
}

function createPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-clear-"));
  const stores = mkdtempSync(join(tmpdir(), "toolwright-clear-store-"));
  onTestFinished(() => {
    for (const path of [folder, stores]) rmSync(path, { recursive: true, force: true });
  });
  const runtime = createRuntime({ store: join(stores, "runs.db"), rootDir: folder });
  return {
    folder,
    runtime,
    async expectNowhere(...texts) {
      await runtime[Symbol.asyncDispose]();
      const names = readdirSync(stores);
      expect(names).toContain("runs.db");
      for (const name of names) {
        const bytes = readFileSync(join(stores, name));
        for (const text of texts) expect([name, bytes.includes(text)]).toEqual([name, false]);
      }
    },
  };
}

const login = defineTool({
  name: "login",
  schema: z.object({ user: z.string(), password: z.string() }),
  redact: { input: ["password"], output: ["token"] },
  execute: ({ user, password }) => ({ user, token: `token-${password}`, echo: `for ${password}` }),
});

/** A loop whose model sends this text, once, with a secret. */
function createSend() {
  const sent: string[] = [];
  const send = defineTool({
    name: "send",
    schema: z.object({ text: z.string(), password: z.string() }),
    sideEffect: true,
    acceptsIdempotencyKey: true,
    redact: { input: ["password"] },
    execute: ({ text }) => sent.push(text),
  });
  const sendAs = (text: string) => () => {
    const input = { text, password: SECRET };
    const model = recordModel(createScriptedModel([[{ toolName: "send", input }], "Sent."]));
    return generateText({ model, tools: { send }, prompt: "Tell Ann.", stopWhen: isStepCount(4) });
  };
  return { sent, sendAs };
}

const WRITE = { toolName: "write", input: { path: "a.txt", content: SECRET } };
const LOGIN = { toolName: "login", input: { user: "ann", password: SECRET } };
const ENV = `A=1\nPASSWORD=${SECRET}\nB=2\n`;
const BAD_PATCH = `@@ -1,2 +1,2 @@\n A=1\n-PASSWORD=other-${SECRET}\n+PASSWORD=new\n`;
const EDIT = { toolName: "edit", input: { path: ".env", patch: BAD_PATCH } };
const UNFIT = { toolName: "write", input: { file: "a.txt", content: SECRET } };
const CALLS = [WRITE, LOGIN, EDIT, UNFIT];
const TOOLS = [write, edit, login];

test("rule 37: an Anthropic loop that has ended", async () => {
  const place = createPlace();
  writeFileSync(join(place.folder, ".env"), ENV);
  const { client, server } = await serve([CALLS, "Done."]);
  const options = { client, model: "m", messages, tools: TOOLS, runtime: place.runtime, runId: "r" };
  const live = await runAgentLoop(options);
  expect(live).toMatchObject({ status: "complete" });
  // The live model receives the location in the file.
  expect(JSON.stringify(server.requests[1]?.body.messages)).toContain(`PASSWORD=${SECRET}`);
  const replayed = await runAgentLoop(options);
  expect(JSON.stringify(replayed)).toContain('"bytes":16');
  expect(JSON.stringify(replayed)).not.toContain(SECRET);
  await place.expectNowhere(SECRET);
});

test("rule 37: an Anthropic loop that a terminal tool ends", async () => {
  const place = createPlace();
  const finish = defineTool({
    name: "finish",
    schema: z.object({ password: z.string() }),
    redact: { input: ["password"] },
    terminal: { status: "complete" },
    execute: ({ password }) => ({ message: `done with ${password}` }),
  });
  const { client } = await serve([[{ toolName: "finish", input: { password: SECRET } }]]);
  await runAgentLoop({ client, model: "m", messages, tools: [finish], runtime: place.runtime, runId: "r" });
  await place.expectNowhere(SECRET);
});

test("rule 37: a smart agent that has ended", async () => {
  const place = createPlace();
  writeFileSync(join(place.folder, ".env"), ENV);
  const model = createScriptedModel([CALLS, "Done."]);
  const events: unknown[] = [];
  const agent = createSmartAgent({
    model,
    runtime: place.runtime,
    tools: TOOLS,
    onEvent: (event) => events.push(event),
  });
  const { state } = await agent.invoke({ messages, runId: "r" });
  expect(JSON.stringify(state)).not.toContain(SECRET);
  expect(
    JSON.stringify(events.filter((event) => (event as { type: string }).type === "tool_call")),
  ).not.toContain(`"content":"${SECRET}`);
  await place.expectNowhere(SECRET);
});

test("rule 37: an agent of a workflow's task", async () => {
  const place = createPlace();
  writeFileSync(join(place.folder, ".env"), ENV);
  const agent = new ToolLoopAgent({
    model: createScriptedModel([CALLS, '{"ok":true}']),
    tools: { write, edit, login },
  });
  const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.object({ ok: z.boolean() }) });
  const workflow = smithers(() =>
    jsx(Workflow, {
      name: "w",
      children: jsx(Task, { id: "t", output: outputs.output, agent, children: "Go." }),
    }),
  );
  const result = await runWorkflow(workflow, { runtime: place.runtime, rootDir: place.folder });
  expect(result).toMatchObject({ status: "finished" });
  await place.expectNowhere(SECRET);
});

test("rule 37: an AI SDK loop in runtime.run, with a recorded model", async () => {
  const place = createPlace();
  writeFileSync(join(place.folder, ".env"), ENV);
  const model = recordModel(createScriptedModel([CALLS, "Done."]));
  await place.runtime.run({ runId: "r" }, () =>
    generateText({ model, tools: { write, edit, login }, prompt: "Go.", stopWhen: isStepCount(4) }),
  );
  await place.expectNowhere(SECRET);
});

test("rule 7: a task whose responses were deleted for their secrets is not asked again after an effect, so nothing happens twice", async () => {
  const place = createPlace();
  const { sent, sendAs } = createSend();
  const run = (text: string) => place.runtime.run({ runId: "r" }, sendAs(text));
  await run("hello");
  await expect(run("good morning")).rejects.toMatchObject({ code: "TOOL_RUN_DELETED", effect: "none" });
  expect(sent).toEqual(["hello"]);
  // Another attempt asks again, and says so to the model.
  await place.runtime.run({ runId: "r", attempt: 2 }, sendAs("hello"));
  expect(sent).toEqual(["hello"]);
  await place.expectNowhere(SECRET);
});

test("a task whose responses were deleted for their secrets, and that had no effect to repeat, may be asked again", async () => {
  const place = createPlace();
  const model = createScriptedModel([[WRITE], "Done.", [WRITE], "Done again."]);
  const work = () =>
    generateText({ model: recordModel(model), tools: { write }, prompt: "Go.", stopWhen: isStepCount(4) });
  await place.runtime.run({ runId: "r" }, work);
  expect((await place.runtime.run({ runId: "r" }, work)).text).toBe("Done again.");
  await place.runtime[Symbol.asyncDispose]();
});

test("rule 7: a worker's program that is interrupted between two tasks requests no response of the first again", async () => {
  const place = createPlace();
  const { runtime } = place;
  const { sent, sendAs } = createSend();
  const reached = Promise.withResolvers<void>();
  const worked: string[] = [];
  const start = async (on: Runtime, text: string): Promise<Worker> => {
    const report = async ({ runId, signal }: ProgramJob): Promise<void> => {
      await on.run({ runId, nodeId: "tell" }, sendAs(text));
      if (text === "hello") {
        reached.resolve();
        await once(signal, "abort");
      }
      await on.run({ runId, nodeId: "end" }, () => worked.push(text));
    };
    const worker = createWorker({ runtime: on, programs: { report }, drainMs: 0 });
    await worker.start();
    return worker;
  };
  const first = await start(runtime, "hello");
  await runtime.enqueue("report", { kind: "program", runId: "r" });
  await reached.promise;
  await first.drain();
  const next = await start(runtime, "good morning");
  await next.idle();
  await next.drain();
  expect(worked).toEqual(["good morning"]);
  expect(sent).toEqual(["hello"]);
  expect(await runtime.describeRun("r")).toMatchObject({ status: "finished" });
  await place.expectNowhere(SECRET);
});

test("a recorded response without secrets stays, so a repeated run makes no request", async () => {
  const place = createPlace();
  const model = createScriptedModel([[{ toolName: "bash", input: { cmd: "true" } }], "Done."]);
  const work = () =>
    generateText({ model: recordModel(model), tools: { bash }, prompt: "Go.", stopWhen: isStepCount(4) });
  await place.runtime.run({ runId: "r" }, work);
  expect((await place.runtime.run({ runId: "r" }, work)).text).toBe("Done.");
  expect(model.requests).toHaveLength(2);
  await place.runtime[Symbol.asyncDispose]();
});

test("rule 37: calls of a program", async () => {
  const place = createPlace();
  writeFileSync(join(place.folder, ".env"), ENV);
  const { runtime } = place;
  for (const { toolName, input } of CALLS) {
    const tool = TOOLS.find(({ name }) => name === toolName) as Tool | undefined;
    if (tool !== undefined) await runtime.call(tool, input, { runId: "r" });
  }
  const failed = await runtime.call(edit, EDIT.input, { runId: "live" });
  // The live caller reads the lines; a replay does not.
  expect(failed).toMatchObject({ error: { hint: expect.stringContaining(SECRET) as string } });
  const [row] = await runtime.calls({ runId: "live" });
  expect(row?.errorJson).toContain("The nearest place in the file is");
  await place.expectNowhere(SECRET);
});

test("rule 37: an approved write", async () => {
  const place = createPlace();
  const { runtime } = place;
  const guarded = defineTool({
    name: "outer",
    schema: z.object({ content: z.string() }),
    redact: { input: ["content"] },
    needsApproval: true,
    approvalPrompt: (args) => `May it write ${JSON.stringify(args)}?`,
    execute: ({ content }) => write.execute({ path: "a.txt", content }),
  });
  const call = () => runtime.call(guarded, { content: SECRET }, { runId: "r", callKey: "k" });
  const asked = await call();
  if (asked.status !== "pending") throw new Error(asked.status);
  await runtime.resolveToolApproval(asked.approval.id, { approved: true });
  expect(await call()).toMatchObject({ status: "success" });
  await place.expectNowhere(SECRET);
});

const CARDS = { input: ["cards.no"] } as const;

test.each<[string, unknown]>([
  ["a misspelt field alongside the path", { card: SECRET }],
  ["a list that is an object", { cards: { no: SECRET, z: SECRET } }],
  ["a field that the schema does not know", { cards: [{ no: "1234", z: SECRET }], note: SECRET }],
  ["a text", SECRET],
  ["a list", [{ cards: SECRET }]],
  ["a name with a dot", { "cards.no": SECRET }],
  ["a number where an object is expected", { cards: [Number("98765432101")] }],
])("rule 37: an input of an unexpected shape is hidden: %s", async (_how, args) => {
  const place = createPlace();
  const pay = defineTool({
    name: "pay",
    schema: z.object({ cards: z.array(z.object({ no: z.string() })) }),
    redact: CARDS,
    needsApproval: true,
    execute: () => "paid",
  });
  await place.runtime.call(pay, args as never, { runId: "r" });
  await place.expectNowhere(SECRET, "98765432101");
});

test.each<[string, unknown]>([
  ["beside the path", { card: SECRET }],
  ["in an item of a list", { cards: [{ no: "1234", nr: SECRET }] }],
])("rule 37: a field that a loose object does not declare is hidden: %s", async (_where, args) => {
  const place = createPlace();
  const pay = defineTool({
    name: "pay",
    schema: z.looseObject({
      cards: z.array(z.looseObject({ no: z.string() })).optional(),
      sum: z.number().optional(),
      headers: z.record(z.string(), z.unknown()).optional(),
    }),
    redact: CARDS,
    execute: () => "paid",
  });
  await place.runtime.call(
    pay,
    { ...(args as object), sum: 70_007, headers: { tag: "known" } },
    { runId: "r" },
  );
  const [row] = await place.runtime.calls();
  expect(row?.inputJson).toContain('"sum":70007');
  expect(row?.inputJson).toContain('"tag":"known"');
  await place.expectNowhere(SECRET);
});

test("a field whose name has dots is found by the path", async () => {
  const place = createPlace();
  const pay = defineTool({
    name: "pay",
    schema: z.object({ "card.no": z.string(), sum: z.number() }),
    redact: { input: ["card.no"], output: ["a.b"] },
    execute: () => ({ "a.b": SECRET, c: 1 }),
  });
  await place.runtime.call(pay, { "card.no": SECRET, sum: 7 }, { runId: "r" });
  const [row] = await place.runtime.calls();
  expect(row?.inputJson).toContain('"sum":7');
  expect(row?.outputJson).toContain('"c":1');
  await place.expectNowhere(SECRET);
});

test.each<[string, (secret: string) => string]>([
  ["as it is", (secret) => secret],
  ["in an address", (secret) => `https://x.test/?k=${encodeURIComponent(secret)}`],
  ["in a form", (secret) => new URLSearchParams({ secret }).toString()],
  ["in base64", (secret) => Buffer.from(`ann:${secret}`).toString("base64")],
  ["in base64url", (secret) => Buffer.from(secret).toString("base64url")],
  ["in hex", (secret) => Buffer.from(secret).toString("hex").toUpperCase()],
  ["in upper case", (secret) => secret.toUpperCase()],
])("rule 37: an error shows no hidden argument %s", async (_how, spell) => {
  const place = createPlace();
  const secret = "Hunter2 & more/than+that";
  const tool = defineTool({
    name: "login",
    schema: z.object({ password: z.string() }),
    redact: { input: ["password"] },
    execute: ({ password }): string => {
      throw new Error(`refused: ${spell(password)}`);
    },
  });
  const outcome = await place.runtime.call(tool, { password: secret }, { runId: "r" });
  if (outcome.status !== "error") throw new Error(outcome.status);
  expect(outcome.error.message).toMatch(/^refused: /);
  const spelt = [secret, spell(secret), Buffer.from(secret).toString("base64").slice(0, -4)];
  for (const text of spelt) expect(outcome.error.message).not.toContain(text);
  await place.expectNowhere(...spelt);
});

test("a secret that contains a mark is still hidden", async () => {
  const place = createPlace();
  const sent = `${SECRET} [redacted sha256:${"x".repeat(43)}]`;
  const outcome = await place.runtime.call(login, { user: "ann", password: sent }, { runId: "r" });
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_INPUT_REDACTED" } });
  await place.expectNowhere(SECRET);
});

test("the messages of an output schema show no hidden output", async () => {
  const place = createPlace();
  const tool = defineTool({
    name: "issue",
    schema: z.object({}),
    outputSchema: z.object({
      token: z.string().refine(() => false, { error: ({ input }) => `${String(input)} is too short` }),
    }),
    redact: { output: ["token"] },
    execute: () => ({ token: SECRET }),
  });
  const outcome = await place.runtime.call(tool, {}, { runId: "r" });
  expect(outcome).toMatchObject({ error: { code: "TOOL_OUTPUT_INVALID" } });
  expect(JSON.stringify(outcome)).not.toContain(SECRET);
  await place.expectNowhere(SECRET);
});
