/** Tools over stdio, as the official client sees them, in both revisions of the protocol. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool } from "../../src/index.ts";
import { serveMcpHttp } from "../../src/adapters/mcp/index.ts";
import {
  connect,
  createClient,
  createServerFolder,
  type Era,
  errorOf,
  hearSteps,
  openRuntime,
  until,
} from "./harness.ts";

describe.each<Era>(["legacy", "modern"])("%s clients", (era) => {
  it("list the tools with their schemas and annotations", async () => {
    const client = await connect(createServerFolder(), { era });
    const { tools } = await client.listTools();
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    expect(byName.get("add")).toMatchObject({
      description: "Adds",
      inputSchema: { type: "object", required: ["a"] },
      outputSchema: { type: "object", properties: { sum: { type: "number" } } },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    });
    expect(byName.get("place_order")?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
    });
  });

  it("get structured output besides its text, and dates as the schema describes them", async () => {
    const client = await connect(createServerFolder(), { era });
    await client.listTools();
    const sum = await client.callTool({ name: "add", arguments: { a: 1 } });
    expect(sum).toMatchObject({
      structuredContent: { sum: 2 },
      content: [{ type: "text", text: '{"sum":2}' }],
    });
    const when = await client.callTool({ name: "when", arguments: {} });
    expect(when.structuredContent).toEqual({ at: "1970-01-01T00:00:00.000Z" });
  });

  it("receive the same error for invalid input as a direct call", async () => {
    const client = await connect(createServerFolder(), { era });
    const result = await client.callTool({ name: "add", arguments: { a: "one" } });
    await using runtime = createRuntime({ store: ":memory:" });
    const schema = z.object({ a: z.number(), b: z.number().default(1) });
    const add = defineTool({ name: "add", schema, execute: () => 0 });
    const direct = await runtime.call(add, { a: "one" } as never);
    expect(result.isError).toBe(true);
    expect(direct.status === "error" && direct.error.toModel()).toEqual(errorOf(result));
    expect(result.content).toEqual([{ type: "text", text: JSON.stringify(errorOf(result)) }]);
  });

  it("receive the progress that they requested", async () => {
    const folder = createServerFolder();
    const client = await connect(folder, { era });
    const { heard, onprogress } = hearSteps(folder, 3);
    const result = await client.callTool({ name: "slow", arguments: { steps: 3 } }, { onprogress });
    expect(result.content).toEqual([{ type: "text", text: "done" }]);
    expect(heard).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })));
  });

  it("cancel a call: the tool is aborted, and the outcome is logged as unknown", async () => {
    const folder = createServerFolder();
    const client = await connect(folder, { era });
    const cancel = new AbortController();
    const call = client.callTool({ name: "slow", arguments: {} }, { signal: cancel.signal });
    await until(() => existsSync(join(folder, "started")));
    cancel.abort();
    await expect(call).rejects.toThrow();
    await until(() => existsSync(join(folder, "aborted")));
    const runtime = openRuntime(folder);
    await until(async () => (await runtime.calls({ toolName: "slow" }))[0]?.status === "unknown");
    expect((await client.callTool({ name: "add", arguments: { a: 1 } })).structuredContent).toEqual({
      sum: 2,
    });
  });
});

it("answers an unknown tool with an error of the protocol", async () => {
  const client = await connect(createServerFolder());
  await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toMatchObject({ code: -32_602 });
  await expect(client.callTool({ name: "toString", arguments: {} })).rejects.toMatchObject({ code: -32_602 });
});

it("keeps serving when a tool throws, even in the background", async () => {
  const client = await connect(createServerFolder());
  const broken = await client.callTool({ name: "broken", arguments: {} });
  expect(errorOf(broken)).toMatchObject({ error_type: "execution_failed", message: "out of order" });
  // Some clients check it against the output schema, even in an error.
  expect(broken.structuredContent).toBeUndefined();
  await client.callTool({ name: "stray", arguments: {} });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await client.callTool({ name: "add", arguments: { a: 1 } })).toMatchObject({
    structuredContent: { sum: 2 },
  });
});

it("marks an output in the error shape as an error", async () => {
  const client = await connect(createServerFolder());
  expect(await client.callTool({ name: "failing", arguments: {} })).toMatchObject({
    isError: true,
    structuredContent: { is_error: true, message: "no" },
  });
});

it("maps names that MCP refuses, logs the original ones, and leaves out tools that cannot be served", async () => {
  const folder = createServerFolder();
  const client = await connect(folder);
  const { tools } = await client.listTools();
  const odd = tools.find(({ _meta }) => _meta?.["toolwright/name"] === "an odd/name");
  const inherited = tools.find(({ _meta }) => _meta?.["toolwright/name"] === "constructor");
  expect([odd?.name, inherited?.name]).toEqual([
    expect.stringMatching(/^an_odd_name_[\w-]{8}$/),
    expect.stringMatching(/^constructor_[\w-]{8}$/),
  ]);
  expect(tools.map(({ name }) => name)).not.toContain("listed");
  const answers = await Promise.all(
    [odd, inherited].map((tool) => client.callTool({ name: tool?.name ?? "", arguments: {} })),
  );
  expect(answers.map(({ content }) => content[0])).toMatchObject([{ text: "odd" }, { text: "inherited" }]);
  const calls = await openRuntime(folder).calls({});
  expect(calls.map(({ toolName }) => toolName).sort()).toEqual(["an odd/name", "constructor"]);
});

it("makes each request without a key a separate run", async () => {
  const folder = createServerFolder();
  const client = await connect(folder);
  for (let count = 0; count < 2; count += 1)
    await client.callTool({ name: "place_order", arguments: { sku: "a" } });
  const calls = await openRuntime(folder).calls({ toolName: "place_order" });
  expect(new Set(calls.map(({ runId }) => runId)).size).toBe(2);
});

it("lists its tools though the output schema of one cannot be shown", async () => {
  const twins = z.object({ a: z.string().meta({ id: "Twin" }), b: z.int().meta({ id: "Twin" }) });
  const tools = [
    defineTool({ name: "odd", schema: z.object({}), outputSchema: twins, execute: () => ({ a: "a", b: 1 }) }),
    defineTool({ name: "even", schema: z.object({}), execute: () => "even" }),
  ];
  await using runtime = createRuntime({ store: ":memory:" });
  await using server = await serveMcpHttp({ tools, runtime, token: false });
  const client = createClient({ era: "modern" });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["odd", "even"]);
  expect(await client.callTool({ name: "odd", arguments: {} })).toMatchObject({
    structuredContent: { a: "a", b: 1 },
  });
});
