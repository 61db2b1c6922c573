/** Everything that happens in a runtime is emitted in one envelope; `onProgress` and `onEvent` are views of that stream. */
import Anthropic from "@anthropic-ai/sdk";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  createRuntime,
  createSmartAgent,
  createSmithers,
  defineTool,
  runAgentLoop,
  type Runtime,
  type RuntimeEvent,
  runWorkflow,
} from "toolwright";
import { createScriptedAnthropic, createScriptedModel } from "toolwright/testing";
import { z } from "zod";

const add = defineTool({ name: "add", schema: z.object({ n: z.number() }), execute: ({ n }) => n + 1 });
const addTwice = defineTool({
  name: "add_twice",
  schema: z.object({ n: z.number() }),
  execute: async ({ n }) => add.execute({ n: await add.execute({ n }) }),
});
const risky = defineTool({
  name: "risky",
  schema: z.object({}),
  needsApproval: true,
  execute: () => "done",
});
const messages = [{ role: "user" as const, content: "Add one." }];

let runtime: Runtime;
let events: RuntimeEvent[];

beforeEach(() => {
  runtime = createRuntime({ store: ":memory:" });
  events = [];
  runtime.subscribe((event) => events.push(event));
});
afterEach(async () => {
  for (const event of events) {
    expect(event).toMatchObject({ type: expect.any(String), at: expect.any(Number) });
    expect(event.runId).not.toBe("");
  }
  await runtime.close();
});

const runs = (): Set<string> => new Set(events.map(({ runId, kind }) => `${kind} ${runId}`));
const types = (): Set<string> => new Set(events.map(({ type }) => type));

it("calls of a program name the call that they are made inside of", async () => {
  await runtime.run({ runId: "r" }, () => addTwice.execute({ n: 1 }));
  await runtime.call(add, { n: 1 }, { runId: "bare" });
  expect(runs()).toEqual(new Set(["program r", "program bare"]));
  const [outer] = events;
  expect(outer).toMatchObject({ type: "call-started", toolName: "add_twice", nodeId: "main", attempt: 1 });
  expect(outer).not.toHaveProperty("parentKey");
  const inner = events.filter(
    (event) => event.runId === "r" && "toolName" in event && event.toolName === "add",
  );
  expect(new Set(inner.map(({ parentKey }) => parentKey))).toEqual(new Set([outer?.key]));
});

it("a workflow emits the events that onProgress receives", async () => {
  const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.number() });
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t" output={outputs.output}>
        {() => add.execute({ n: 2 })}
      </Task>
    </Workflow>
  ));
  const seen: RuntimeEvent[] = [];
  await runWorkflow(workflow, { runtime, runId: "w", onProgress: (event) => seen.push(event) });
  expect(runs()).toEqual(new Set(["workflow w"]));
  const ofTree = events.filter(({ type }) => !type.startsWith("call-"));
  expect(ofTree.map(({ type, at }) => [type, at])).toEqual(seen.map(({ type, at }) => [type, at]));
  expect(types()).toEqual(new Set(["plan-rendered", "task-changed", "call-started", "call-finished"]));
});

it("a smart agent emits the events that onEvent receives, and a sub-agent's events name the enclosing call", async () => {
  const scout = createSmartAgent({
    name: "scout",
    model: createScriptedModel([[{ toolName: "add", input: { n: 3 } }], "Four."]),
    tools: [add],
    runtime,
  });
  const seen: string[] = [];
  const agent = createSmartAgent({
    model: createScriptedModel([[{ toolName: "scout", input: { input: "Add." } }], "Done."]),
    tools: [scout],
    runtime,
    onEvent: ({ type }) => seen.push(type),
  });
  const { runId } = await agent.invoke({ messages });
  expect(runs()).toEqual(new Set([`agent ${runId}`]));
  const answers = events.filter((event) => event.type === "finalAnswer");
  const called = events.find((event) => event.type === "call-started");
  expect(answers.map(({ content, parentKey }) => [content, parentKey])).toEqual([
    ["Four.", called?.key],
    ["Done.", undefined],
  ]);
  // The outer agent shows the inner one's events wrapped, so that none is mistaken for its own.
  expect(seen.filter((type) => type === "finalAnswer")).toHaveLength(1);
  expect(seen).toContain("sub_agent");
  expect(types()).not.toContain("sub_agent");
});

it("a loop on the Anthropic SDK emits the events that onEvent receives, once", async () => {
  await using server = await createScriptedAnthropic([[{ toolName: "add", input: { n: 4 } }], "Done."]);
  const client = new Anthropic({ baseURL: server.baseURL, apiKey: "any", maxRetries: 0 });
  const seen: string[] = [];
  await runAgentLoop({
    client,
    model: "claude",
    messages,
    tools: [add],
    runtime,
    runId: "loop",
    onEvent: ({ type }) => seen.push(type),
  });
  expect(runs()).toEqual(new Set(["agent loop"]));
  expect(events.map(({ type }) => type)).toEqual(seen);
  expect(types()).toEqual(new Set(["response-received", "call-started", "call-finished"]));
});

it("a decision names its run, even if another process decides", async () => {
  const model = createScriptedModel([[{ toolName: "risky", input: {} }], "Done."]);
  const agent = createSmartAgent({ model, tools: [risky], runtime });
  const { runId } = await agent.invoke({ messages });
  await runtime.call(risky, {}, { runId: "bare" });
  for (const { id } of await runtime.approvals()) await runtime.resolveToolApproval(id, { approved: false });
  const settled = events.filter(({ type }) => type === "approval-settled");
  expect(new Set(settled.map((event) => `${event.kind} ${event.runId} ${event.nodeId}`))).toEqual(
    new Set([`agent ${runId} main`, "program bare main"]),
  );
});
