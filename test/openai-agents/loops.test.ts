/** Our tools in the loop of the OpenAI Agents SDK. */
import { Agent, type RunContext } from "@openai/agents";
import { createRegistry, createRuntime, defineTool, type ToolContext } from "toolwright";
import { toOpenAIAgentTool, toOpenAIAgentTools } from "toolwright/openai-agents";
import { expect, test } from "vitest";
import { z } from "zod";
import { createCount, weather } from "../loop-tools.ts";
import { answersIn, calls, runner, say, script } from "./harness.ts";

test("a call runs and is logged with the model's id", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { agent, model } = script(
    [toOpenAIAgentTool(weather)],
    calls(["weather", { city: "Bern" }, "id-1"]),
    say("It is 21 degrees."),
  );
  const result = await runtime.run({ runId: "run-1" }, () => runner.run(agent, "How is Bern?"));
  expect(result.finalOutput).toBe("It is 21 degrees.");
  expect(answersIn(model.lastCall?.request)).toEqual([["id-1", '{"city":"Bern","degrees":21,"unit":"C"}']]);
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([
    { toolName: "weather", toolCallId: "id-1", status: "success" },
  ]);
});

test("a streamed run does the same", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { agent } = script(
    [toOpenAIAgentTool(weather)],
    calls(["weather", { city: "Bern" }, "id-1"]),
    say("done"),
  );
  await runtime.run({ runId: "run-1" }, async () => {
    const result = await runner.run(agent, "How is Bern?", { stream: true });
    await result.completed;
  });
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([{ toolCallId: "id-1", status: "success" }]);
});

test("several calls of one response are logged in its order, equal ones as two", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { agent, model } = script(
    [toOpenAIAgentTool(weather)],
    calls(
      ["weather", { city: "Bern" }, "id-1"],
      ["weather", { city: "Chur" }, "id-2"],
      ["weather", { city: "Bern" }, "id-3"],
    ),
    say("done"),
  );
  await runtime.run({ runId: "run-1" }, () => runner.run(agent, "How is it?"));
  expect(answersIn(model.lastCall?.request).map(([id]) => id)).toEqual(["id-1", "id-2", "id-3"]);
  const log = await runtime.calls({ runId: "run-1" });
  expect(log.map(({ toolCallId, seq }) => [toolCallId, seq])).toEqual([
    ["id-1", 1],
    ["id-2", 2],
    ["id-3", 3],
  ]);
  expect(new Set(log.map(({ key }) => key)).size).toBe(3);
});

test("the model receives the input's JSON Schema, not strict, in which a field with a default is not required", async () => {
  const { agent, model } = script([toOpenAIAgentTool(weather)], say("ok"));
  await runner.run(agent, "Hello.");
  expect(model.firstCall?.request.tools).toMatchObject([
    {
      type: "function",
      name: "weather",
      description: "The weather in a city",
      strict: false,
      parameters: { type: "object", required: ["city"], properties: { unit: { default: "C" } } },
    },
  ]);
});

test("a tool whose input is not an object is offered with one field", async () => {
  const shout = defineTool({
    name: "shout",
    schema: z.union([z.string(), z.array(z.string())]),
    execute: (text) => String(text).toUpperCase(),
  });
  await using runtime = createRuntime({ store: ":memory:" });
  const { agent, model } = script(
    [toOpenAIAgentTool(shout)],
    calls(["shout", { input: "hey" }, "id-1"]),
    say("ok"),
  );
  await runtime.run({ runId: "run-1" }, () => runner.run(agent, "Shout."));
  expect(model.firstCall?.request.tools).toMatchObject([{ parameters: { required: ["input"] } }]);
  expect(answersIn(model.lastCall?.request)).toEqual([["id-1", "HEY"]]);
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([{ inputJson: '"hey"' }]);
});

test("names that the SDK would change are mapped to unique ones, and logged unchanged", async () => {
  const named = (name: string) => defineTool({ name, schema: z.object({}), execute: () => `I am ${name}` });
  const names = ["shop.order", "shop_order", "shop-order", `long.${"x".repeat(80)}`];
  const tools = toOpenAIAgentTools(createRegistry(names.map(named)));
  const offered = tools.map(({ name }) => name);
  expect(new Set(offered).size).toBe(4);
  expect(offered.every((name) => /^[a-zA-Z0-9_]{1,64}$/.test(name))).toBe(true);
  expect(offered[1]).toBe("shop_order");
  await using runtime = createRuntime({ store: ":memory:" });
  const { agent, model } = script(
    tools,
    calls(
      ...offered.map((name, index): [string, object & Record<string, unknown>, string] => [
        name,
        {},
        `id-${index}`,
      ]),
    ),
    say("ok"),
  );
  await runtime.run({ runId: "run-1" }, () => runner.run(agent, "All of them."));
  expect(answersIn(model.lastCall?.request).map(([, text]) => text)).toEqual(
    names.map((name) => `I am ${name}`),
  );
  expect((await runtime.calls({ runId: "run-1" })).map(({ toolName }) => toolName)).toEqual(names);
});

test("two tools with the same name are refused, not hidden", () => {
  const one = defineTool({ name: "same", schema: z.object({}), execute: () => 1 });
  const other = defineTool({ name: "same", schema: z.object({}), execute: () => 2 });
  expect(() => toOpenAIAgentTools([one, other])).toThrow('Two tools would have the name "same"');
});

test("the run context of the loop is in ctx", async () => {
  interface App {
    readonly user: string;
  }
  const whoami = defineTool({
    name: "whoami",
    schema: z.object({}),
    execute: (_args, ctx: ToolContext<{ runContext: RunContext<App> }>) => ctx.runContext.context.user,
  });
  await using runtime = createRuntime({ store: ":memory:" });
  const { model } = script([], calls(["whoami", {}, "id-1"]), say("ok"));
  // An agent with its own context type accepts the tool.
  const agent = new Agent<App>({ name: "Shop", model, tools: [toOpenAIAgentTool(whoami)] });
  await runtime.run({ runId: "run-1" }, () => runner.run(agent, "Who?", { context: { user: "Ada" } }));
  expect(answersIn(model.lastCall?.request)).toEqual([["id-1", "Ada"]]);
});

test("outside any run a tool works, and nothing is logged", async () => {
  const { agent, model } = script(
    [toOpenAIAgentTool(weather)],
    calls(["weather", { city: "Bern" }, "id-1"]),
    say("done"),
  );
  await runner.run(agent, "How is Bern?");
  expect(answersIn(model.lastCall?.request)).toMatchObject([["id-1", expect.stringContaining("21")]]);
});

test("the SDK answers arguments that are not JSON, and the loop of a pure tool continues", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { agent, model } = script(
    [toOpenAIAgentTool(weather)],
    calls(["weather", '{"city": "Be', "id-1"]),
    say("sorry"),
  );
  const result = await runtime.run({ runId: "run-1" }, () => runner.run(agent, "How is Bern?"));
  expect(result.interruptions).toEqual([]);
  expect(answersIn(model.lastCall?.request)).toMatchObject([["id-1", expect.stringContaining("valid JSON")]]);
});

test("equal calls of two turns of a chat are different, if the program passes the turn", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { count, keys } = createCount();
  const chat = (turn: number) =>
    runtime.run({ runId: "chat", turn }, () => {
      const { agent } = script(
        [toOpenAIAgentTool(count)],
        calls(["count", {}, "a"], ["count", {}, "b"]),
        calls(["count", {}, "c"]),
        say("done"),
      );
      return runner.run(agent, "Count.");
    });
  for (const turn of [1, 1]) await chat(turn);
  expect(keys).toHaveLength(3);
  for (const turn of [2, 2]) await chat(turn);
  expect(keys).toHaveLength(6);
});
