/** Run with: npm test */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createRuntime } from "toolwright";
import { createMcpServer, MCP_IDEMPOTENCY_KEY } from "toolwright/mcp";
import config from "./toolwright.config.ts";

test("an order that is sent twice under one key is placed once", async (t) => {
  const rootDir = await mkdtemp(join(tmpdir(), "mcp-"));
  t.after(() => rm(rootDir, { recursive: true }));
  const runtime = createRuntime({ store: ":memory:", rootDir });
  t.after(() => runtime.close());
  const client = new Client({ name: "test", version: "1.0.0" });
  t.after(() => client.close());
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createMcpServer({ tools: config.tools, runtime }).connect(far);
  await client.connect(near);

  const order = {
    name: "place_order",
    arguments: { item: "apple", quantity: 2 },
    _meta: { [MCP_IDEMPOTENCY_KEY]: "order-17" },
  };
  const first = await client.callTool(order);
  const second = await client.callTool(order);
  assert.deepEqual(first.structuredContent, { receipt: "2 of apple" });
  assert.deepEqual(second.structuredContent, first.structuredContent);
  const orders = await readFile(join(rootDir, "orders.txt"), "utf8");
  assert.equal(orders.trim().split("\n").length, 1);
});
