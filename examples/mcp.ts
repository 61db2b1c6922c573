/** A tool, served to an MCP client and imported back: sent twice under one key, the order is placed once. */
import assert from "node:assert/strict";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createRuntime, defineTool } from "toolwright";
import { createMcpServer, importMcpTools, MCP_IDEMPOTENCY_KEY } from "toolwright/mcp";
import { z } from "zod";

const placed: string[] = [];

const placeOrder = defineTool({
  name: "place_order",
  description: "Place an order at the shop",
  schema: z.object({ sku: z.string() }),
  outputSchema: z.object({ orderId: z.string() }),
  sideEffect: true,
  idempotent: false,
  execute: ({ sku }, ctx) => ({ orderId: `${placed.push(sku)}-${ctx.idempotencyKey?.slice(0, 4)}` }),
});

await using runtime = createRuntime({ store: ":memory:" });
const [near, far] = InMemoryTransport.createLinkedPair();
const server = createMcpServer({ tools: [placeOrder], runtime });
await server.connect(far);

const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(near);

// A client does this if its connection broke before the response arrived.
const request = {
  name: "place_order",
  arguments: { sku: "apple" },
  _meta: { [MCP_IDEMPOTENCY_KEY]: "order-17" },
};
const first = await client.callTool(request);
const second = await client.callTool(request);
console.log("Sent once:      ", first.structuredContent);
console.log("Sent once more: ", second.structuredContent);
assert.deepEqual(second.structuredContent, first.structuredContent);
assert.deepEqual(placed, ["apple"]);

const conflict = await client.callTool({ ...request, arguments: { sku: "pear" } });
assert.equal(conflict.isError, true);
console.log("Another order under the same key is refused.");
assert.deepEqual(placed, ["apple"]);

// The other direction: a tool of a server with our own policy, which the server cannot change.
const [imported] = await importMcpTools(client, { needsApproval: true });
assert.ok(imported);
const outcome = await runtime.call(imported, { sku: "plum" }, { runId: "monday" });
console.log(`Imported with a policy that requires approval, a call is ${outcome.status}.`);
assert.equal(outcome.status, "pending");
assert.deepEqual(placed, ["apple"]);

await client.close();
