/** Tools as parameters of the Messages API. */
import { expect, test } from "vitest";
import { z } from "zod";
import {
  createRegistry,
  defineTool,
  getAllTools,
  registerTool,
  runAgentLoop,
  toAnthropicTool,
  toAnthropicTools,
} from "toolwright";
import { findAnthropicTool } from "toolwright/anthropic";
import { problemWith } from "../../src/testing/anthropic/check-request.ts";
import { call, openRuntime, resultsIn, serve, user } from "./harness.ts";

const echo = (name: string, schema: z.ZodType = z.object({})) =>
  defineTool({ name, schema, execute: (args: unknown) => ({ name, args }) });

test("name, description and schema: a field with a default is not required", () => {
  const contextWrite = defineTool({
    name: "context_write",
    description: "Write content to a context item.",
    schema: z.object({
      path: z.string().describe("where"),
      on_conflict: z.enum(["error", "overwrite"]).default("error"),
    }),
    execute: () => "written",
  });
  expect(toAnthropicTool(contextWrite)).toEqual({
    name: "context_write",
    description: "Write content to a context item.",
    input_schema: expect.objectContaining({
      type: "object",
      properties: {
        path: { type: "string", description: "where" },
        on_conflict: { type: "string", enum: ["error", "overwrite"], default: "error" },
      },
      required: ["path"],
    }),
  });
});

test("names that the provider refuses are mapped, and a call by the mapped name finds its tool", async () => {
  const names = ["shop.order", "shop_order", "shop/order", `very.${"long.".repeat(30)}name`, "grüße"];
  const tools = names.map((name) => echo(name));
  const offered = toAnthropicTools(tools);
  expect(problemWith({ model: "m", max_tokens: 1, messages: [user("x")], tools: offered })).toBeUndefined();
  expect(offered.map(({ name }) => findAnthropicTool(tools, name)?.name)).toEqual(names);
  const { client, server } = await serve([offered.map(({ name }) => call(name, {})), "Done."]);
  const { messages } = await runAgentLoop({
    client,
    model: "claude-test",
    messages: [user("All.")],
    tools,
    runtime: openRuntime(),
  });
  expect(server.refused).toEqual([]);
  const called = resultsIn(messages[2]).map(
    ({ content }) => (JSON.parse(String(content)) as { name: string }).name,
  );
  expect(called).toEqual(names);
});

test("two tools with the same name are refused; the same tool twice is one", async () => {
  const one = echo("read");
  expect(() => toAnthropicTools([one, echo("read")])).toThrow('Two tools would have the name "read"');
  expect(toAnthropicTools([one, one])).toHaveLength(1);
});

test("an input that is not an object is offered inside of one, and the tool gets the original arguments", async () => {
  const tree: z.ZodType = z.lazy(() => z.union([z.string(), z.array(tree)]));
  const tools = [
    echo("text", z.string()),
    echo("either", z.union([z.object({ a: z.number() }), z.object({ b: z.string() })])),
    echo("tree", tree),
    echo("map", z.record(z.string(), z.number())),
  ];
  const args = ["hello", { b: "x" }, ["a", ["b"]], { any: 1 }];
  const { client, server } = await serve([
    tools.map((tool, index) => call(tool.name, tool.name === "map" ? args[index] : { input: args[index] })),
    "Done.",
  ]);
  const { messages } = await runAgentLoop({
    client,
    model: "claude-test",
    messages: [user("All.")],
    tools,
    runtime: openRuntime(),
  });
  expect(server.refused).toEqual([]);
  expect(resultsIn(messages[2]).map(({ content }) => JSON.parse(String(content)) as unknown)).toEqual(
    tools.map(({ name }, index) => ({ name, args: args[index] })),
  );
  const schemas = new Map(toAnthropicTools(tools).map(({ name, input_schema: schema }) => [name, schema]));
  expect(schemas.get("text")).toEqual({
    type: "object",
    properties: { input: { type: "string" } },
    required: ["input"],
  });
  // References still resolve, even if their target has moved.
  for (const schema of schemas.values()) {
    for (const [, ref = ""] of JSON.stringify(schema).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = ref.split("/").reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], schema);
      expect(found, ref).toBeDefined();
    }
    expect(JSON.stringify(schema)).not.toContain('"$ref":"#"');
  }
});

test("fields whose names the provider refuses are offered one level down, and reach the tool unchanged", async () => {
  const schema = z.object({ "filter[name]": z.string(), ["x".repeat(65)]: z.string().optional() });
  const list = defineTool({ name: "list", schema, execute: (args) => args["filter[name]"] });
  const { server, client } = await serve([
    [call("list", { input: { "filter[name]": "a" } }, "a"), call("list", { "filter[name]": "b" }, "b")],
    "Done.",
  ]);
  const runtime = openRuntime();
  await runAgentLoop({ client, model: "m", messages: [user("?")], tools: [list], runtime, runId: "r" });
  expect(resultsIn(server.requests[1]?.body.messages[2])).toMatchObject([{ content: "a" }, { content: "b" }]);
});

test("a registry, a record, foreign tools, and by default the registered tools", async () => {
  const registry = createRegistry([echo("one")]);
  expect(toAnthropicTools(registry).map(({ name }) => name)).toEqual(["one"]);
  const foreign = {
    name: "foreign",
    description: "from elsewhere",
    schema: z.object({ q: z.string() }),
    invoke: () => 1,
  };
  expect(toAnthropicTools({ two: echo("two"), foreign }).map(({ name }) => name)).toEqual(["two", "foreign"]);
  registerTool(echo("registered.tool"));
  expect(toAnthropicTools().map(({ name }) => name)).toEqual(["registered_tool"]);
  expect(getAllTools()).toHaveLength(1);
  const { client, server } = await serve([[call("registered_tool", {})], "Done."]);
  await runAgentLoop({ client, model: "claude-test", messages: [user("Go.")], runtime: openRuntime() });
  expect(server.requests[0]?.body.tools).toMatchObject([{ name: "registered_tool" }]);
});
