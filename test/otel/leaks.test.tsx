/** Every byte that an SDK exports of workflows, agents, loops, MCP, forks and reverts is searched for planted secrets. */
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import Anthropic from "@anthropic-ai/sdk";
import {
  createRuntime,
  createSmartAgent,
  createWorkflows,
  defineTool,
  runAgentLoop,
  type Runtime,
  runWorkflow,
  type Tool,
} from "toolwright";
import { createMcpServer, importMcpTools } from "toolwright/mcp";
import { openTelemetry } from "toolwright/otel";
import { createScriptedAnthropic, createScriptedModel } from "toolwright/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { createStorePath } from "../workflow/harness.ts";
import { GENERATIONS, openSdk } from "./harness.ts";

/** Each word says where it was planted. */
const SECRET = /red-[a-z]+/g;

const schema = z.object({ note: z.string() });
const pay = defineTool({
  name: "pay",
  schema,
  sideEffect: true,
  idempotencyKey: ({ note }) => `red-businesskey ${note}`,
  retry: { maxRetries: 1, backoffMs: 0 },
  needsApproval: ({ note }) => note.includes("ask"),
  approvalPrompt: "red-prompt?",
  revert: () => "red-reverted",
  execute: ({ note }, ctx) => {
    ctx.progress("red-progress", { note });
    ctx.log.warn("red-logged", { key: ctx.idempotencyKey });
    if (note.includes("fail")) throw new Error("red-thrown", { cause: new Error("red-cause") });
    return { receipt: `red-output ${note}` };
  },
});

async function useEverything(runtime: Runtime): Promise<string[]> {
  const { Workflow, Task, workflow, outputs } = createWorkflows({
    input: z.object({ order: z.string() }),
    paid: z.object({ receipt: z.string() }),
    output: z.string(),
  });
  const model = createScriptedModel([
    [{ toolName: "pay", input: { note: "red-modelinput fail" } }],
    "red-answer",
  ]);
  const shop = workflow((ctx) => (
    <Workflow name="shop">
      <Task id="pay" output={outputs.paid}>
        {() => pay.execute({ note: `ask ${ctx.input.order}` })}
      </Task>
      <Task id="think" model={model} tools={[pay]} output={outputs.output}>
        red-taskprompt
      </Task>
    </Workflow>
  ));
  const options = { runtime, runId: "w", labels: { customer: "red-label" } };
  await runWorkflow(shop, { ...options, input: { order: "red-workflowinput" } });
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", {
    approved: true,
    comment: "red-comment",
    decidedBy: "red-decider",
  });
  expect((await runWorkflow(shop, { ...options, resume: true })).status).toBe("finished");
  const fork = await runtime.fork({ runId: "w", at: "think", effects: "run" });
  await runWorkflow(shop, { runtime, runId: fork.runId, resume: true });

  const agent = createSmartAgent({
    name: "clerk",
    model: createScriptedModel([
      [{ toolName: "pay", input: { note: "red-agentinput" } }],
      [{ toolName: "pay", input: { wrong: "red-invalid" } }],
      "red-answer",
    ]),
    tools: [pay],
    systemPrompt: "red-system",
    runtime,
  });
  await agent.invoke({ runId: "a", messages: [{ role: "user", content: "red-message" }] });
  await using server = await createScriptedAnthropic([
    [{ toolName: "pay", input: { note: "red-loopinput" } }],
    "red-answer",
  ]);
  const client = new Anthropic({ baseURL: server.baseURL, apiKey: "red-apikey", maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "red-message" }];
  await runAgentLoop({ client, model: "claude", tools: [pay], runtime, messages, runId: "l" });

  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const mcp = new Client({ name: "red-client", version: "1" });
  await Promise.all([createMcpServer({ tools: [pay], runtime }).connect(theirs), mcp.connect(ours)]);
  const [remote] = await importMcpTools(mcp, { sideEffect: true });
  for (const note of ["red-mcpinput", "red-mcpinput fail"])
    await runtime.call(remote as Tool, { note }, { runId: "m", callKey: `red-callkey ${note}` });
  await mcp.close();
  await runtime.revert({ runId: "l" });
  const failing = runtime.run({ runId: "p", name: "p", input: "red-programinput" }, () => {
    throw new TypeError("red-programerror");
  });
  await failing.catch(() => undefined);
  return (await runtime.calls()).flatMap(({ key, idempotencyKey }) => [key, idempotencyKey]);
}

it.each(GENERATIONS)("SDK %s exports no content, no key and no secret by default", async (generation) => {
  const seen = openSdk(generation);
  await using runtime = createRuntime({ store: createStorePath(), telemetry: openTelemetry(seen.sdk) });
  const keys = await useEverything(runtime);
  const text = await seen.text();
  expect(text).toContain("execute_tool pay");
  expect([...new Set(text.match(SECRET))]).toEqual([]);
  expect(keys.length).toBeGreaterThan(8);
  expect(keys.filter((key) => key !== "" && text.includes(key))).toEqual([]);
});
