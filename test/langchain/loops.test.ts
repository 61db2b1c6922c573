/** Our tools in a LangChain loop. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { createRegistry, createRuntime, defineTool, type ToolContext } from "toolwright";
import { toLangChainTool, toLangChainTools } from "toolwright/langchain";
import { expect, test } from "vitest";
import { z } from "zod";
import { createCount, createPay, createWait, weather } from "../loop-tools.ts";
import { answersIn, loop } from "./harness.ts";

const task = { runId: "run-1" };

test("a call runs and is logged with the model's id, and the output is the message's artifact", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const messages = await runtime.run(task, () =>
    loop([toLangChainTool(weather)], [[["weather", { city: "Bern" }, "id-1"]], "It is 21 degrees."]),
  );
  expect(messages.at(-1)?.text).toBe("It is 21 degrees.");
  expect(answersIn(messages)).toEqual([["id-1", "success", '{"city":"Bern","degrees":21,"unit":"C"}']]);
  expect(messages.find((message) => message instanceof ToolMessage)).toMatchObject({
    name: "weather",
    artifact: { degrees: 21 },
  });
  expect(await runtime.calls(task)).toMatchObject([
    { toolName: "weather", toolCallId: "id-1", status: "success" },
  ]);
});

test("several calls of one response are logged in its order, equal ones as two", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  await runtime.run(task, () =>
    loop(
      [toLangChainTool(weather)],
      [
        [
          ["weather", { city: "Bern" }, "id-1"],
          ["weather", { city: "Chur" }, "id-2"],
          ["weather", { city: "Bern" }, "id-3"],
        ],
        "done",
      ],
    ),
  );
  const log = await runtime.calls(task);
  expect(log.map(({ toolCallId }) => toolCallId)).toEqual(["id-1", "id-2", "id-3"]);
  expect(new Set(log.map(({ key }) => key)).size).toBe(3);
});

test("providers receive the input's JSON Schema, in which a field with a default is not required", () => {
  expect(convertToOpenAITool(toLangChainTool(weather))).toMatchObject({
    function: {
      name: "weather",
      description: "The weather in a city",
      parameters: { type: "object", required: ["city"], properties: { unit: { default: "C" } } },
    },
  });
  // Providers that take the schema unchanged receive the same.
  expect(toLangChainTool(weather).schema).toMatchObject({ type: "object", required: ["city"] });
});

test("a tool whose input is not an object is offered with one field", async () => {
  const shout = defineTool({
    name: "shout",
    schema: z.union([z.string(), z.array(z.string())]),
    execute: (text) => String(text).toUpperCase(),
  });
  const made = toLangChainTool(shout);
  expect(made.schema).toMatchObject({ required: ["input"] });
  expect(answersIn(await loop([made], [[["shout", { input: "hey" }, "id-1"]], "ok"]))).toEqual([
    ["id-1", "success", "HEY"],
  ]);
});

test("names that providers refuse are mapped to unique ones, and logged unchanged", async () => {
  const named = (name: string) => defineTool({ name, schema: z.object({}), execute: () => `I am ${name}` });
  const names = ["shop.order", "shop_order", "shop/order", `long.${"x".repeat(80)}`];
  const tools = toLangChainTools(createRegistry(names.map(named)));
  const offered = tools.map(({ name }) => name);
  expect(new Set(offered).size).toBe(4);
  expect(offered.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true);
  await using runtime = createRuntime({ store: ":memory:" });
  const turn = offered.map((name, index): [string, Record<string, unknown>, string] => [
    name,
    {},
    `id-${index}`,
  ]);
  const messages = await runtime.run(task, () => loop(tools, [turn, "ok"]));
  expect(answersIn(messages).map(([, , text]) => text)).toEqual(names.map((name) => `I am ${name}`));
  expect((await runtime.calls(task)).map(({ toolName }) => toolName)).toEqual(names);
});

test("invalid input is answered in the standard error shape, logged, and not run", async () => {
  const { pay, paid } = createPay();
  await using runtime = createRuntime({ store: ":memory:" });
  const messages = await runtime.run(task, () =>
    loop([toLangChainTool(pay)], [[["pay", { amount: "much" }, "id-1"]], "sorry"]),
  );
  const [[id, status, text] = []] = answersIn(messages);
  expect([id, status]).toEqual(["id-1", "error"]);
  expect(JSON.parse(text ?? "")).toEqual({
    is_error: true,
    error_type: "input_invalid",
    message: expect.stringContaining("amount"),
    next_action_hint: expect.any(String),
  });
  expect(paid).toEqual([]);
  expect(await runtime.calls(task)).toMatchObject([{ status: "error", inputJson: '{"amount":"much"}' }]);
});

test("an exception of the tool is an answer to a model and an error to a program", async () => {
  const fail = defineTool({
    name: "fail",
    schema: z.object({}),
    execute: () => {
      throw new Error("the shop is closed");
    },
  });
  const made = toLangChainTool(fail);
  const [[, status, text] = []] = answersIn(await loop([made], [[["fail", {}, "id-1"]], "sorry"]));
  expect(status).toBe("error");
  expect(JSON.parse(text ?? "")).toMatchObject({
    error_type: "execution_failed",
    message: expect.stringContaining("the shop is closed"),
  });
  await expect(made.invoke({})).rejects.toMatchObject({ code: "TOOL_EXECUTION_FAILED" });
});

test("a program that calls the tool with plain arguments gets the plain output", async () => {
  expect(await toLangChainTool(weather).invoke({ city: "Bern" })).toEqual({
    city: "Bern",
    degrees: 21,
    unit: "C",
  });
});

test("the configuration of the loop is in ctx, and callbacks are notified of the call", async () => {
  const whoami = defineTool({
    name: "whoami",
    schema: z.object({}),
    execute: (_args, ctx: ToolContext<{ runnableConfig: { configurable: { user: string } } }>) =>
      ctx.runnableConfig.configurable.user,
  });
  const heard: string[] = [];
  const messages = await loop([toLangChainTool(whoami)], [[["whoami", {}, "id-1"]], "ok"], {
    configurable: { user: "Ada" },
    callbacks: [
      { handleToolStart: () => void heard.push("start"), handleToolEnd: () => void heard.push("end") },
    ],
  });
  expect(answersIn(messages)).toEqual([["id-1", "success", "Ada"]]);
  expect(heard).toEqual(["start", "end"]);
});

test("a terminal tool returns directly, and others do not", () => {
  const end = defineTool({ name: "end", schema: z.object({}), terminal: true, execute: () => "over" });
  expect(toLangChainTools([end, weather]).map(({ returnDirect }) => returnDirect)).toEqual([true, false]);
});

test("an abort of the loop reaches ctx.signal, and the call is not logged as finished", async () => {
  const { wait, started, reasons } = createWait();
  await using runtime = createRuntime({ store: ":memory:" });
  const controller = new AbortController();
  const run = runtime.run(task, () =>
    loop([toLangChainTool(wait)], [[["wait", {}, "id-1"]], "done"], { signal: controller.signal }),
  );
  await started;
  controller.abort(new Error("the user left"));
  await expect(run).rejects.toThrow("the user left");
  expect(reasons).toMatchObject([{ code: "TOOL_ABORTED" }]);
  expect(await runtime.calls(task)).toMatchObject([{ status: "unknown" }]);
});

test("a resumed loop gets logged results even if the model's ids are new, and the tool does not run again", async () => {
  const { count, keys } = createCount();
  await using runtime = createRuntime({ store: ":memory:" });
  for (const id of ["id-1", "id-2"]) {
    await runtime.run(task, () => loop([toLangChainTool(count)], [[["count", {}, id]], "done"]));
  }
  expect(keys).toHaveLength(1);
});

test("equal calls of two turns of a chat are different, if the loop passes its messages or the program passes the turn", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { count, keys } = createCount();
  const tool = toLangChainTool(count);
  const chat = (turns: number, turn?: number) =>
    runtime.run({ ...task, turn }, () =>
      loop([tool], [[["count", {}, "id-1"]], "Done."], {
        state: { messages: Array.from({ length: turns }, () => new HumanMessage("Count.")) },
      }),
    );
  for (const turns of [1, 1, 2, 2, 3]) await chat(turns);
  expect(keys).toHaveLength(3);
  for (const turn of [3, 4, 4]) await chat(1, turn);
  expect(keys).toHaveLength(4);
});

test("several equal calls with one id are different calls", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { count, keys } = createCount();
  const tool = toLangChainTool(count);
  for (let drives = 0; drives < 2; drives += 1) {
    await runtime.run(task, () =>
      loop(
        [tool],
        [
          [
            ["count", {}, "x"],
            ["count", {}, "x"],
          ],
          [["count", {}, "x"]],
          "Done.",
        ],
      ),
    );
  }
  expect(keys).toHaveLength(3);
});
