/** Results that our tools did not make: of other libraries, of the provider, and what a generator yields before its result. */
import { tool, ToolLoopAgent } from "ai";
import { createRuntime, createWorkflows, defineTool, runWorkflow, type StreamPart } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { jsx } from "toolwright/jsx-runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { createStorePath } from "../workflow/harness.ts";
import { messageOf, userMessage } from "./chat-server.ts";
import { collect } from "./collect-parts.ts";
import { createLiveModel, type LiveRequest } from "./live-model.ts";
import { say, startChat } from "./start-chat.ts";

const inputSchema = z.object({});
async function* work() {
  yield { percent: 10 };
  yield { percent: 100 };
}
const TOOLS = {
  own: defineTool({ name: "own", schema: inputSchema, execute: work }),
  foreign: tool({ inputSchema, execute: work }),
  failing: tool({
    inputSchema,
    execute: (): string => {
      throw new Error("sold out");
    },
  }),
  secret: defineTool({
    name: "secret",
    schema: inputSchema,
    redact: { output: ["pin"] },
    execute: () => ({ pin: "1234-5678" }),
  }),
};

function callAll(request: LiveRequest): void {
  for (const name of Object.keys(TOOLS)) request.call(name, {}, name);
  request.finish("tool-calls");
}

/** The results of each call. */
function resultsIn(parts: readonly StreamPart[]): Record<string, unknown[]> {
  const results: Record<string, unknown[]> = {};
  for (const part of parts)
    if (part.type === "tool-result") (results[part.toolCallId] ??= []).push(part.output);
    else if (part.type === "tool-error") (results[part.toolCallId] ??= []).push(part.error.message);
  return results;
}

const RESULTS = {
  own: [{ percent: 100 }],
  foreign: [{ percent: 100 }],
  failing: ["sold out"],
  secret: [{ pin: expect.stringMatching(/^\[redacted/) }],
};

test("a chat shows one result of each call, the last one of a generator", async () => {
  const { live, client, runtime } = await startChat(undefined, () => ({ tools: TOOLS }));
  await using _ = runtime;
  const reader = collect(runtime.stream("c"));
  const answer = messageOf(await client.send([userMessage("Go")]));
  callAll(await live.next());
  say(await live.next(), "Done.");
  expect((await answer).parts.slice(1, 4)).toMatchObject([
    { type: "tool-own", state: "output-available", output: { percent: 100 } },
    { type: "tool-foreign", state: "output-available", output: { percent: 100 } },
    { type: "tool-failing", state: "output-error", errorText: "sold out" },
  ]);
  expect(resultsIn(await reader.done)).toEqual(RESULTS);
});

test("so do readers of a workflow", async () => {
  const live = createLiveModel();
  await using runtime = createRuntime({ store: createStorePath() });
  const { Workflow, Task, workflow } = createWorkflows({});
  const agent = new ToolLoopAgent({ model: live.model, tools: TOOLS });
  const task = jsx(Task, { id: "t", agent, children: "Go." });
  const run = workflow(() => jsx(Workflow, { name: "w", children: task }));
  const reader = collect(runtime.stream("r"));
  const running = runWorkflow(run, { runtime, runId: "r", input: {} });
  callAll(await live.next());
  say(await live.next(), "Done.");
  expect((await running).status).toBe("finished");
  expect(resultsIn(await reader.done)).toEqual(RESULTS);
});

test("a call that the provider runs keeps its position, and so does its result, once", async () => {
  const search = {
    type: "provider",
    isProviderExecuted: true,
    id: "x.search",
    args: {},
    inputSchema,
    outputSchema: z.unknown(),
  };
  const { live, client, runtime } = await startChat(undefined, () => ({ tools: { search } }));
  await using _ = runtime;
  const reader = collect(runtime.stream("c"));
  const answer = messageOf(await client.send([userMessage("Search")]));
  const request = await live.next();
  request.send(
    { type: "tool-call", toolCallId: "s", toolName: "search", input: "{}", providerExecuted: true },
    { type: "tool-result", toolCallId: "s", toolName: "search", result: { hits: 3 } },
  );
  say(request, "3 hits.");
  expect((await answer).parts.map(({ type }) => type)).toEqual(["step-start", "tool-search", "text"]);
  const parts = await reader.done;
  expect(resultsIn(parts)).toEqual({ s: [{ hits: 3 }] });
  const types = parts.map(({ type }) => type);
  expect(types.indexOf("tool-result")).toBeLessThan(types.indexOf("text-start"));
});

test("a replayed response has the same order as the live one, with the provider's results in it", async () => {
  const live = createLiveModel();
  const store = createStorePath();
  const orders: string[][] = [];
  for (const isFirst of [true, false]) {
    await using runtime = createRuntime({ store });
    const running = runtime.run({ runId: "r" }, async () => {
      const agent = new ToolLoopAgent({ model: recordModel(live.model), tools: {} });
      const result = await agent.stream({ prompt: "Search" });
      await result.consumeStream();
      return (await result.content).map(({ type }) => type);
    });
    if (isFirst) {
      const request = await live.next();
      request.send(
        {
          type: "tool-call",
          toolCallId: "s",
          toolName: "search",
          input: "{}",
          providerExecuted: true,
          dynamic: true,
        },
        { type: "tool-result", toolCallId: "s", toolName: "search", result: { hits: 3 }, dynamic: true },
      );
      say(request, "3 hits.");
    }
    orders.push(await running);
  }
  expect(orders).toEqual([
    ["tool-call", "tool-result", "text"],
    ["tool-call", "tool-result", "text"],
  ]);
});
