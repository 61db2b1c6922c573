/** Tools of untrusted servers: their policies, their limits, and how attacks fail. */
import { resolve } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, it, onTestFinished, vi } from "vitest";
import { importMcpTools, type McpImportPolicy, pinMcpTools } from "../../src/adapters/mcp/index.ts";
import { createRuntime, getDefinedToolMetadata, type Runtime, type Tool } from "../../src/index.ts";
import { connect, createClient, createServerFolder, ledgerOf } from "./harness.ts";

async function connectHostile(changed = ""): Promise<Client> {
  const client = createClient();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [resolve(import.meta.dirname, "programs/hostile-server.ts")],
    env: { CHANGED: changed },
    stderr: "ignore",
  });
  await client.connect(transport);
  return client;
}

function openRuntime(): Runtime {
  const runtime = createRuntime({ store: ":memory:" });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
  return runtime;
}

async function toolsOf(client: Client, policy?: McpImportPolicy): Promise<Record<string, Tool>> {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const tools = await importMcpTools(client, policy);
  warn.mockRestore();
  return Object.fromEntries(tools.map((tool) => [tool.name, tool]));
}

const call = (runtime: Runtime, tool: Tool | undefined, args: unknown = {}) =>
  runtime.call(tool as Tool, args, { runId: "r" });

it("imports every page, leaves out invalid tools, and warns about them", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const tools = await importMcpTools(await connectHostile());
  expect(tools.map(({ name }) => name)).toEqual([
    "echo",
    "text",
    "image",
    "fails",
    "lies",
    "garbage",
    "hangs",
    "dies",
    "either",
    "slow_input",
    "slow_output",
  ]);
  expect(warn.mock.calls.flat()).toEqual([expect.stringMatching(/"unusable" cannot be used: .*reference/)]);
  warn.mockRestore();
});

it("limits the time of a catastrophic pattern, in inputs and in outputs", async () => {
  const { slow_input, slow_output } = await toolsOf(await connectHostile());
  const runtime = openRuntime();
  const sent = await call(runtime, slow_input, { sku: `${"a".repeat(40)}!` });
  const message = expect.stringContaining("schema timed out") as string;
  expect(sent).toMatchObject({ status: "error", error: { code: "TOOL_INPUT_INVALID", message } });
  const answered = await call(runtime, slow_output);
  expect(answered).toMatchObject({ status: "error", error: { code: "TOOL_OUTPUT_INVALID" } });
});

it("shows no control characters of a server", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const inputSchema = { type: "object", properties: { a: { $ref: "http://127.0.0.1/schema" } } };
  const client = {
    listTools: async () => ({ tools: [{ name: "\u001b[2Jfine\u202e", inputSchema }] }),
    callTool: async () => undefined,
  };
  expect(await importMcpTools(client)).toEqual([]);
  const [[told]] = warn.mock.calls as [[string]];
  expect(told).toContain("fine");
  expect(told).not.toMatch(/\p{Cc}|\u202e/u);
  warn.mockRestore();
});

it("treats every tool as a non-idempotent side effect, despite hints of the server, unless the policy differs", async () => {
  const client = await connectHostile();
  const { echo } = await toolsOf(client);
  expect(getDefinedToolMetadata(echo)).toMatchObject({ sideEffect: true, idempotent: false });
  const policy = {
    tools: { echo: { sideEffect: false, name: "mirror" }, text: false },
    needsApproval: true,
  } as const;
  const { mirror, text, fails } = await toolsOf(client, policy);
  expect(getDefinedToolMetadata(mirror)).toMatchObject({ sideEffect: false, idempotent: true });
  expect(text).toBeUndefined();
  expect(await call(openRuntime(), fails)).toMatchObject({ status: "pending" });
});

it("refuses a policy with an option that does not exist", async () => {
  const client = await connectHostile();
  await expect(importMcpTools(client, { echo: {} } as never)).rejects.toThrow(/echo/);
  await expect(importMcpTools(client, { tools: { echo: { sideEfect: false } as never } })).rejects.toThrow(
    /sideEfect/,
  );
});

it("checks the arguments before the server sees them, sends its key, and keeps structured content", async () => {
  const { echo, text, image, either } = await toolsOf(await connectHostile());
  const runtime = openRuntime();
  expect(await call(runtime, either, { a: 1, b: 2 })).toMatchObject({
    error: { code: "TOOL_INPUT_INVALID" },
  });
  expect(await call(runtime, either, { a: 1 })).toMatchObject({ status: "success" });
  expect(await call(runtime, echo, { sku: "Not it" })).toMatchObject({
    status: "error",
    error: { code: "TOOL_INPUT_INVALID", message: expect.stringContaining("sku") },
  });
  const outcome = await call(runtime, echo, { sku: "apple" });
  expect(outcome).toMatchObject({ status: "success", output: { sku: "apple", key: outcome.key } });
  expect(await call(runtime, text)).toMatchObject({ output: "one\ntwo" });
  expect(await call(runtime, image)).toMatchObject({
    output: { content: [{ type: "image", data: "aGk=" }] },
  });
});

it("turns failures, invalid output and garbage into clear errors, and the other tools keep working", async () => {
  const { fails, lies, garbage, echo } = await toolsOf(await connectHostile());
  const runtime = openRuntime();
  expect(await call(runtime, fails)).toMatchObject({
    status: "error",
    error: { code: "TOOL_EXECUTION_FAILED", message: "no such order" },
  });
  expect(await call(runtime, lies)).toMatchObject({
    status: "error",
    error: { code: "TOOL_OUTPUT_INVALID" },
  });
  expect(await call(runtime, garbage)).toMatchObject({
    status: "error",
    error: { code: "TOOL_EXECUTION_FAILED", message: expect.stringContaining('"garbage"') },
  });
  expect(await call(runtime, echo, { sku: "apple" })).toMatchObject({ status: "success" });
});

it("ends a call of a server that hangs, and does not retry a side effect", async () => {
  const { hangs, echo } = await toolsOf(await connectHostile(), {
    tools: { hangs: { timeoutMs: 100, retry: { maxRetries: 2, backoffMs: 0 } } },
  });
  const runtime = openRuntime();
  expect(await call(runtime, hangs)).toMatchObject({ status: "error", error: { code: "TOOL_TIMEOUT" } });
  expect(await runtime.calls({ toolName: "hangs" })).toMatchObject([{ tries: 1 }]);
  expect(await call(runtime, echo, { sku: "apple" })).toMatchObject({ status: "success" });
});

it("turns the crash of a server into a clear error, without affecting other servers", async () => {
  const { dies, echo } = await toolsOf(await connectHostile());
  const { echo: other } = await toolsOf(await connectHostile(), { prefix: "other." }).then((tools) => ({
    echo: tools["other.echo"],
  }));
  const runtime = openRuntime();
  expect(await call(runtime, dies)).toMatchObject({
    status: "error",
    error: {
      code: "TOOL_EXECUTION_FAILED",
      message: expect.stringMatching(/did not answer.*"dies"/),
      effect: undefined,
    },
  });
  // Nothing was sent, so no effect can have happened.
  expect(await call(runtime, echo, { sku: "apple" })).toMatchObject({
    status: "error",
    error: { effect: "none" },
  });
  expect(await call(runtime, other, { sku: "apple" })).toMatchObject({ status: "success" });
});

it("reports a list that never ends or never arrives", async () => {
  await expect(importMcpTools(await connectHostile("endless"))).rejects.toMatchObject({
    code: "TOOL_EXECUTION_FAILED",
    message: expect.stringContaining("cannot be listed"),
  });
  const silent = {
    listTools: () => new Promise(() => undefined),
    callTool: () => Promise.reject(new Error()),
  };
  await expect(importMcpTools(silent, { listTimeoutMs: 50 })).rejects.toThrow(/no answer within 50 ms/);
});

it("refuses a tool that has changed since it was pinned, names the change, and runs the others", async () => {
  const pins = await pinMcpTools(await connectHostile());
  const same = await toolsOf(await connectHostile(), { pins });
  const runtime = openRuntime();
  expect(await call(runtime, same["echo"], { sku: "apple" })).toMatchObject({ status: "success" });
  const { echo, text, newcomer } = await toolsOf(await connectHostile("description schema more"), {
    pins,
    needsApproval: true,
    tools: { text: { needsApproval: false } },
  });
  expect(await call(runtime, echo, { sku: "pear" })).toMatchObject({
    status: "error",
    error: {
      code: "TOOL_CHANGED",
      message: expect.stringMatching(/its description and its inputSchema changed/),
    },
  });
  expect(await call(runtime, newcomer)).toMatchObject({ status: "error", error: { code: "TOOL_CHANGED" } });
  expect(await call(runtime, text)).toMatchObject({ status: "success" });
  expect(await runtime.approvals({})).toEqual([]);
});

it("calls our own server with the same key in a later attempt, which has the effect once", async () => {
  const folder = createServerFolder();
  const policy = { acceptsIdempotencyKey: true, replay: "run" } as const;
  const { place_order: order } = await toolsOf(await connect(folder, { era: "modern" }), policy);
  const runtime = openRuntime();
  for (const attempt of [1, 2]) {
    const outcome = await runtime.call(order as Tool, { sku: "apple" }, { runId: "r", attempt });
    expect(outcome).toMatchObject({
      status: "success",
      output: { sku: "apple", orders: 1 },
      replayed: false,
    });
  }
  expect(ledgerOf(folder)).toEqual(["apple"]);
});
