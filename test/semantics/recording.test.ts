/** `recording: "keep"`: what a replay needs stays after the end of a run, redacted. */
import { ToolLoopAgent } from "ai";
import {
  createSmartAgent,
  createSmithers,
  defineTool,
  runWorkflow,
  type StreamPart,
  write,
  type Runtime,
} from "toolwright";
import { jsx } from "toolwright/jsx-runtime";
import { createScriptedModel, replayRun, type ScriptedTurn } from "toolwright/testing";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { recordRun } from "../../src/operate/fixtures/record-run.ts";
import { createWorld, type World } from "./harness.ts";

const SECRET = "hunter2-in-clear";
const RESPONSES = "SELECT * FROM toolwright_responses ORDER BY scope_id, attempt, position";

const login = defineTool({
  name: "login",
  schema: z.object({ user: z.string(), password: z.string() }),
  redact: { input: ["password"], output: ["token"] },
  execute: ({ user, password }) => ({ user, token: `token-${password}`, echo: `for ${password}` }),
});

const SCRIPT: readonly ScriptedTurn[] = [
  [{ toolName: "login", input: { user: "ann", password: SECRET } }],
  [{ toolName: "write", input: { path: "a.txt", content: `Password: ${SECRET}` } }],
  `Logged in with ${SECRET}.`,
];

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "toolwright-recording-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function workflowOf(script: readonly ScriptedTurn[]) {
  const { Workflow, Task, smithers, outputs } = createSmithers({ answer: z.object({ text: z.string() }) });
  const agent = new ToolLoopAgent({
    model: createScriptedModel(script),
    tools: { login, write },
  });
  return smithers(() =>
    jsx(Workflow, {
      name: "login",
      children: jsx(Task, { id: "enter", output: outputs.answer, agent, children: "Log in." }),
    }),
  );
}

const DONE = [...SCRIPT.slice(0, 2), '{"text":"done"}'];

async function keeping(world: World): Promise<Runtime> {
  return world.runtime({ recording: "keep", rootDir: folder(), isolation: "off" });
}

test("rule 37: a model that reuses one id for calls of two tools shows nothing that one of them hides", async () => {
  const world = await createWorld();
  await using runtime = await world.runtime({ recording: "keep" });
  const input = { user: "ann", password: SECRET };
  const check = defineTool({
    name: "check",
    schema: z.object({ user: z.string(), password: z.string() }),
    execute: ({ user }) => ({ user, token: "none" }),
  });
  const model = createScriptedModel([
    [{ toolCallId: "same", toolName: "login", input }],
    [{ toolCallId: "same", toolName: "check", input: { ...input, password: "public" } }],
    "Done.",
  ]);
  const agent = createSmartAgent({ model, tools: [login, check], runtime });
  await agent.invoke({ runId: "r", messages: [{ role: "user", content: "Log in." }] });
  const text = JSON.stringify([await world.rows(RESPONSES), await world.dump()]);
  expect(text).toContain("[redacted sha256:");
  expect(text).toContain("public");
  expect(text).not.toContain(SECRET);
});

test("rules 30 and 37: keeps responses, requests and arguments, and nothing that tools hide", async () => {
  const world = await createWorld();
  await using runtime = await keeping(world);
  const result = await runWorkflow(workflowOf(DONE), { runId: "r", runtime });
  expect(result.status).toBe("finished");
  const responses = await world.rows(RESPONSES);
  expect(responses).toHaveLength(3);
  for (const { request_json: request } of responses) expect(request).not.toBeNull();
  const text = JSON.stringify(responses);
  expect(text).toContain("[redacted sha256:");
  expect(text).toContain("Log in.");
  expect(text).not.toContain(SECRET);
  // The content of a file is described by its digest.
  expect(text).toContain("sha256");
  expect(JSON.stringify(await world.rows("SELECT * FROM toolwright_recordings"))).not.toContain(SECRET);
});

test("parts of a response with a hidden value are redacted, under the indexes that readers know", async () => {
  const world = await createWorld();
  await using runtime = await keeping(world);
  const { promise: isRead, resolve: onRead } = Promise.withResolvers<void>();
  const read = async (runId: string, from = 0): Promise<StreamPart[]> => {
    const parts: StreamPart[] = [];
    for await (const part of runtime.stream(runId, { from })) {
      parts.push(part);
      onRead();
    }
    return parts;
  };
  const reading = read("r");
  // The end is not committed before the reader is known: only what it has not read by then is kept for it.
  const [last = ""] = DONE.slice(-1);
  const whenRead: ScriptedTurn = () => isRead.then(() => last as string);
  await runWorkflow(workflowOf([...DONE.slice(0, -1), whenRead]), { runId: "r", runtime });
  const [during, after] = [await reading, await read("r")];
  expect(JSON.stringify(during)).toContain(SECRET);
  expect(JSON.stringify(after)).not.toContain(SECRET);
  expect(JSON.stringify(await world.rows("SELECT * FROM toolwright_stream_parts"))).not.toContain(SECRET);
  const placed = (parts: readonly StreamPart[]) =>
    parts.filter(({ type }) => !type.startsWith("tool-input-")).map(({ type, index }) => [type, index]);
  expect(placed(after)).toEqual(placed(during));
  // A reader that continues after the end receives only the rest.
  const from = during.find(({ type }) => type === "tool-result")?.index ?? 0;
  expect(await read("r", from)).toEqual(after.filter(({ index }) => index >= from));
});

test("without it, a run that finished cannot be recorded, and says what to do; one that failed can", async () => {
  const world = await createWorld();
  await using runtime = await world.runtime({ rootDir: folder(), isolation: "off" });
  const store = await world.open();
  await runWorkflow(workflowOf(DONE), { runId: "done", runtime });
  await expect(recordRun(store, "done")).rejects.toMatchObject({
    code: "TOOL_RUN_NOT_RECORDED",
    message: expect.stringContaining('was not started with recording: "keep"'),
    hint: expect.stringContaining('recording: "keep"'),
  });
  const failing: ScriptedTurn[] = [...SCRIPT.slice(0, 2), new Error("overloaded")];
  const failed = await runWorkflow(workflowOf(failing), { runId: "failed", runtime });
  expect(failed.status).toBe("failed");
  const fixture = await recordRun(store, "failed");
  expect(JSON.stringify(fixture)).not.toContain(SECRET);
  expect(JSON.stringify(fixture)).toContain("[redacted sha256:");
  // A recorded failure that fails alike is the same.
  const replayed = await replayRun(fixture, { workflow: workflowOf([new Error("not asked")]) });
  expect(replayed.diff).toEqual([]);
  expect(replayed).toMatchObject({ same: true, status: "failed" });
  expect(replayed.error?.message).toContain("failed after 3 attempts");
});

test("a run keeps the setting that it started with, whichever runtime resumes it", async () => {
  const world = await createWorld();
  const script: ScriptedTurn[] = [...SCRIPT.slice(0, 1), new Error("crash")];
  const runtime = await keeping(world);
  const input = { runId: "a", messages: [{ role: "user" as const, content: "Go." }] };
  const first = createSmartAgent({ model: createScriptedModel(script), tools: [login], runtime });
  await expect(first.invoke(input)).rejects.toThrow("crash");
  await world.killAll();
  const other = await world.runtime();
  const model = createScriptedModel(["Done."]);
  await createSmartAgent({ model, tools: [login], runtime: other }).invoke(input);
  expect(await world.rows(RESPONSES)).toHaveLength(2);
  expect(JSON.stringify(await world.rows(RESPONSES))).not.toContain(SECRET);
  const fixture = await recordRun(await world.open(), "a");
  const silent = createSmartAgent({ model: createScriptedModel([new Error("not asked")]), tools: [login] });
  expect((await replayRun(fixture, { agent: silent })).diff).toEqual([]);
  await other[Symbol.asyncDispose]();
});

test("a run that is deleted, unknown or still running cannot be recorded", async () => {
  const world = await createWorld();
  const store = await world.open();
  await using runtime = await keeping(world);
  await expect(recordRun(store, "nothing")).rejects.toMatchObject({ code: "TOOL_RUN_NOT_FOUND" });
  await runtime.run({ runId: "at-work" }, async () => {
    await login.execute({ user: "ann", password: SECRET });
    await expect(recordRun(store, "at-work")).rejects.toMatchObject({
      code: "TOOL_RUN_NOT_RECORDED",
      message: expect.stringContaining('its status is "running"'),
    });
  });
  await runtime.call(login, { user: "ann", password: SECRET }, { runId: "old" });
  expect((await recordRun(store, "old")).calls).toHaveLength(1);
  await runtime.gc({ olderThanMs: 0, replayOlderThanMs: 0 });
  await expect(recordRun(store, "old")).rejects.toMatchObject({ code: "TOOL_RUN_DELETED" });
  expect(await world.rows("SELECT * FROM toolwright_recordings WHERE run_id = 'old'")).toEqual([]);
});
