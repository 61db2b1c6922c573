/** The tree of spans of workflows, agents, sub-agents and loops, and what is in it after a resume. */
import { SpanKind } from "@opentelemetry/api";
import {
  createRuntime,
  createSmartAgent,
  createSmithers,
  defineTool,
  runAgentLoop,
  type Runtime,
  runWorkflow,
} from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { openTelemetry } from "toolwright/otel";
import { createScriptedAnthropic, createScriptedModel } from "toolwright/testing";
import Anthropic from "@anthropic-ai/sdk";
import { generateText } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { linksOf, openSdk, type Seen, spanNamed, treeOf } from "./harness.ts";

const add = defineTool({ name: "add", schema: z.object({ n: z.number() }), execute: ({ n }) => n + 1 });
const charge = defineTool({
  name: "charge",
  schema: z.object({}),
  sideEffect: true,
  idempotent: true,
  needsApproval: true,
  execute: () => "charged",
});

function open(seen: Seen): Runtime {
  const runtime = createRuntime({ store: ":memory:", telemetry: openTelemetry(seen.sdk) });
  onTestFinished(() => runtime.close());
  return runtime;
}

it("a workflow with a function, an agent and a decision: two activations, two traces", async () => {
  const seen = openSdk();
  const runtime = open(seen);
  const model = createScriptedModel([[{ toolName: "add", input: { n: 1 } }], JSON.stringify({ sum: 2 })]);
  const { Workflow, Task, smithers, outputs } = createSmithers({
    first: z.number(),
    sum: z.object({ sum: z.number() }),
    output: z.string(),
  });
  const workflow = smithers(() => (
    <Workflow name="shop">
      <Task id="count" output={outputs.first}>
        {() => add.execute({ n: 1 })}
      </Task>
      <Task id="think" model={model} tools={[add]} output={outputs.sum}>
        Add one.
      </Task>
      <Task id="pay" output={outputs.output}>
        {() => charge.execute({})}
      </Task>
    </Workflow>
  ));
  expect((await runWorkflow(workflow, { runtime, runId: "w" })).status).toBe("waiting-approval");
  expect(treeOf(seen.spans())).toBe(
    [
      "invoke_workflow shop",
      "  execute_tool add",
      "  invoke_agent think",
      "    chat scripted",
      "    execute_tool add",
      "    chat scripted",
      "  request_approval charge",
    ].join("\n"),
  );
  const first = spanNamed(seen.spans(), "invoke_workflow shop");
  expect(first.attributes).toEqual({
    "gen_ai.operation.name": "invoke_workflow",
    "gen_ai.workflow.name": "shop",
    "toolwright.run.id": "w",
    "toolwright.run.kind": "workflow",
    "toolwright.status": "waiting-approval",
  });
  const chat = spanNamed(seen.spans(), "chat scripted");
  expect(chat.kind).toBe(SpanKind.CLIENT);
  expect(chat.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "toolwright-scripted",
    "gen_ai.request.model": "scripted",
    "gen_ai.conversation.id": "w",
    "gen_ai.usage.input_tokens": expect.any(Number),
    "gen_ai.usage.output_tokens": expect.any(Number),
    "gen_ai.response.finish_reasons": ["stop"],
  });
  const before = seen.spans().length;
  const [approval] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(approval?.id ?? "", { approved: true });
  expect((await runWorkflow(workflow, { runtime, runId: "w", resume: true })).status).toBe("finished");
  const after = seen.spans().slice(before);
  // Finished tasks are not run again, so neither their calls nor their responses have spans.
  expect(treeOf(after)).toBe("decide_approval charge\ninvoke_workflow shop\n  execute_tool charge");
  const second = spanNamed(after, "invoke_workflow shop");
  expect(linksOf(second)).toEqual([["resume", first.context.spanId]]);
  expect(second.context.traceId).not.toBe(first.context.traceId);
  const request = spanNamed(seen.spans(), "request_approval charge");
  expect(linksOf(spanNamed(after, "execute_tool charge"))).toEqual([["decision", request.context.spanId]]);
  expect(await seen.points("gen_ai.workflow.duration")).toMatchObject([
    { value: 2, attributes: { "gen_ai.workflow.name": "shop" } },
  ]);
});

it("a failed task is retried: the second agent links to the first, and the run has the error of the task", async () => {
  const seen = openSdk();
  const runtime = open(seen);
  const { Workflow, Task, smithers } = createSmithers({});
  const failing = {
    id: "writer",
    generate: async () => {
      throw new Error("secret reason");
    },
  };
  const workflow = smithers(() => (
    <Workflow name="retry">
      <Task id="write" agent={failing} retries={1}>
        Write.
      </Task>
    </Workflow>
  ));
  await runWorkflow(workflow, { runtime, runId: "w" });
  expect(treeOf(seen.spans())).toBe("invoke_workflow retry\n  invoke_agent writer\n  invoke_agent writer");
  const [one, two, run] = seen.spans();
  expect(linksOf(two as never)).toEqual([["retry", one?.context.spanId]]);
  expect(two?.attributes).toMatchObject({ "error.type": "Error", "gen_ai.agent.name": "writer" });
  expect(run?.attributes["error.type"]).toBe("WORKFLOW_TASK_FAILED");
  expect(await seen.text()).not.toContain("secret reason");
});

it("a smart agent with a sub-agent", async () => {
  const seen = openSdk();
  const runtime = open(seen);
  const helper = createSmartAgent({
    name: "helper",
    model: createScriptedModel([[{ toolName: "add", input: { n: 1 } }], "Two."], { modelId: "small" }),
    tools: [add],
    runtime,
  });
  const boss = createSmartAgent({
    name: "boss",
    model: createScriptedModel([[{ toolName: "helper", input: { input: "Add." } }], "Done."], {
      modelId: "large",
    }),
    tools: [helper.asTool()],
    runtime,
  });
  const input = { messages: [{ role: "user" as const, content: "Go." }], runId: "a" };
  await boss.invoke(input);
  expect(treeOf(seen.spans())).toBe(
    [
      "invoke_agent boss",
      "  chat large",
      "  execute_tool helper",
      "    invoke_agent helper",
      "      chat small",
      "      execute_tool add",
      "      chat small",
      "  chat large",
    ].join("\n"),
  );
  expect(spanNamed(seen.spans(), "invoke_agent boss").attributes).toEqual({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "toolwright-scripted",
    "gen_ai.agent.name": "boss",
    "gen_ai.request.model": "large",
    "gen_ai.conversation.id": "a",
    "toolwright.run.id": "a",
    "toolwright.run.kind": "agent",
    "toolwright.node.id": "main",
    "toolwright.status": "finished",
  });
  const tools = await seen.points("gen_ai.execute_tool.duration");
  expect(
    tools.map(({ attributes }) => [attributes["gen_ai.tool.name"], attributes["gen_ai.agent.name"]]),
  ).toEqual([
    ["add", "helper"],
    ["helper", "boss"],
  ]);
  const agentOf = (name: string) => spanNamed(seen.spans(), name).attributes["gen_ai.agent.name"];
  expect([agentOf("execute_tool add"), agentOf("execute_tool helper")]).toEqual(["helper", "boss"]);
  const agents = await seen.points("gen_ai.invoke_agent.duration");
  expect(agents.map(({ attributes }) => attributes["gen_ai.agent.name"])).toEqual(["helper", "boss"]);
  // The same input again is answered from the log: no work, no span.
  const count = seen.spans().length;
  await boss.invoke(input);
  expect(seen.spans()).toHaveLength(count);
});

it("a loop on the Anthropic SDK has chats with all tokens, and a failed request has an error", async () => {
  const seen = openSdk();
  const runtime = open(seen);
  await using server = await createScriptedAnthropic([[{ toolName: "add", input: { n: 1 } }], "Two."]);
  const client = new Anthropic({ baseURL: server.baseURL, apiKey: "any", maxRetries: 0 });
  const options = { client, model: "claude-sonnet-5-5", tools: [add], runtime };
  const messages = [{ role: "user" as const, content: "Add." }];
  await runAgentLoop({ ...options, messages, runId: "a" });
  expect(treeOf(seen.spans())).toBe(
    "invoke_agent\n  chat claude-sonnet-5-5\n  execute_tool add\n  chat claude-sonnet-5-5",
  );
  expect(spanNamed(seen.spans(), "chat claude-sonnet-5-5").attributes).toMatchObject({
    "gen_ai.provider.name": "anthropic",
    "gen_ai.usage.input_tokens": expect.any(Number),
  });
  await runAgentLoop({ ...options, messages, runId: "b" });
  expect(spanNamed(seen.spans(), "chat claude-sonnet-5-5").attributes).toHaveProperty(["error.type"]);
  expect(spanNamed(seen.spans(), "invoke_agent").attributes).toHaveProperty(["error.type"]);
});

it("the span of a model request has its settings and its usage", async () => {
  const seen = openSdk();
  const runtime = open(seen);
  const model = new MockLanguageModelV4({
    provider: "openai.chat",
    modelId: "gpt",
    doGenerate: async () => ({
      content: [{ type: "text", text: "Hello" }],
      finishReason: { unified: "stop", raw: "stop" },
      usage: {
        inputTokens: { total: 10, noCache: 4, cacheRead: 5, cacheWrite: 1 },
        outputTokens: { total: 7, text: 4, reasoning: 3 },
      },
      warnings: [],
      response: { id: "answer-1", modelId: "gpt-0613" },
    }),
  });
  const settings = { seed: 7, maxOutputTokens: 100, temperature: 0.5, topK: 40, topP: 0.9 };
  const penalties = { frequencyPenalty: 0.1, presencePenalty: 0.2 };
  await runtime.run({ runId: "r" }, () =>
    generateText({ model: recordModel(model), prompt: "Hi", ...settings, ...penalties }),
  );
  expect(spanNamed(seen.spans(), "chat gpt").attributes).toMatchObject({
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt",
    "gen_ai.request.seed": 7,
    "gen_ai.request.max_tokens": 100,
    "gen_ai.request.temperature": 0.5,
    "gen_ai.request.top_k": 40,
    "gen_ai.request.top_p": 0.9,
    "gen_ai.request.frequency_penalty": 0.1,
    "gen_ai.request.presence_penalty": 0.2,
    "gen_ai.response.id": "answer-1",
    "gen_ai.response.model": "gpt-0613",
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 10,
    "gen_ai.usage.output_tokens": 7,
    "gen_ai.usage.cache_read.input_tokens": 5,
    "gen_ai.usage.cache_creation.input_tokens": 1,
    "gen_ai.usage.reasoning.output_tokens": 3,
  });
});
