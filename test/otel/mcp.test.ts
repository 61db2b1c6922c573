/** Calls of MCP tools carry the trace: what the server does is a part of it. */
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { createRuntime, defineTool, type Runtime, type Tool } from "toolwright";
import { createMcpServer, importMcpTools } from "toolwright/mcp";
import { openTelemetry } from "toolwright/otel";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { openSdk, type Seen } from "./harness.ts";

function openRuntime(seen: Seen): Runtime {
  const runtime = createRuntime({ store: ":memory:", telemetry: openTelemetry(seen.sdk) });
  onTestFinished(() => runtime.close());
  return runtime;
}

async function connect(runtime: Runtime): Promise<Client> {
  const inner = defineTool({ name: "inner", schema: z.object({}), execute: () => "stock" });
  const stock = defineTool({ name: "stock", schema: z.object({}), execute: () => inner.execute({}) });
  const server = createMcpServer({ tools: [stock], runtime });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1" });
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  onTestFinished(() => client.close());
  return client;
}

it("the call of the server is a child of the call of the client", async () => {
  const here = openSdk();
  const there = openSdk("1.x");
  const [stock] = await importMcpTools(await connect(openRuntime(there)), { sideEffect: false });
  await openRuntime(here).call(stock as Tool, {}, { runId: "r" });
  const [sent] = here.spans();
  const [inner, received] = there.spans();
  expect([sent?.name, received?.name, inner?.name]).toEqual([
    "execute_tool stock",
    "execute_tool stock",
    "execute_tool inner",
  ]);
  expect(received).toMatchObject({ parentId: sent?.context.spanId });
  expect(inner).toMatchObject({ parentId: received?.context.spanId });
  expect(inner?.context.traceId).toBe(sent?.context.traceId);
  // The attributes of the MCP conventions are on the calls that there are, and not on those inside them.
  expect(sent?.attributes).toMatchObject({ "mcp.method.name": "tools/call" });
  expect(received?.attributes).toMatchObject({
    "mcp.method.name": "tools/call",
    "jsonrpc.request.id": expect.stringMatching(/^\d+$/),
  });
  expect(Object.keys(inner?.attributes ?? {}).filter((name) => /^(mcp|jsonrpc)/.test(name))).toEqual([]);
});

it("the server keeps the state of the trace, for samplers and other vendors", async () => {
  const there = openSdk();
  const client = await connect(openRuntime(there));
  const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  const _meta = { traceparent, tracestate: "ot=th:8,vendor=a1" };
  await client.callTool({ name: "stock", arguments: {}, _meta });
  for (const { context } of there.spans()) {
    expect(context.traceId).toBe("1".repeat(32));
    expect(context.traceState?.serialize()).toBe("ot=th:8,vendor=a1");
  }
});

it("an error of the protocol has its code", async () => {
  const seen = openSdk();
  const client = await connect(openRuntime(openSdk()));
  const broken = {
    listTools: () => client.listTools(),
    callTool: () => Promise.reject(Object.assign(new Error("no such tool"), { code: -32602 })),
  };
  const [stock] = await importMcpTools(broken, { sideEffect: false });
  await openRuntime(seen).call(stock as Tool, {}, { runId: "r" });
  expect(seen.spans()[0]?.attributes).toMatchObject({
    "error.type": "TOOL_EXECUTION_FAILED",
    "rpc.response.status_code": "-32602",
  });
});

it("an invalid trace context is ignored", async () => {
  const seen = openSdk();
  const client = await connect(openRuntime(seen));
  for (const traceparent of [
    "",
    "00-0-0-01",
    `00-${"0".repeat(32)}-${"1".repeat(16)}-01`,
    "x".repeat(10_000),
  ]) {
    await client.callTool({ name: "stock", arguments: {}, _meta: { traceparent } });
  }
  const roots = seen.spans().filter(({ parentId }) => parentId === undefined);
  expect(roots.map(({ name }) => name)).toEqual(Array(4).fill("execute_tool stock"));
});
