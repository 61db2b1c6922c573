/** Starts `toolwright mcp` as an MCP client does, and sends the same order twice under one key: it is placed once. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { MCP_IDEMPOTENCY_KEY } from "toolwright/mcp";

const client = new Client({ name: "orders", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: "npx", args: ["toolwright", "mcp"] }));
try {
  const { tools } = await client.listTools();
  console.log(`Tools: ${tools.map(({ name }) => name).join(", ")}`);
  const order = {
    name: "place_order",
    arguments: { item: "apple", quantity: 2 },
    _meta: { [MCP_IDEMPOTENCY_KEY]: "order-17" },
  };
  console.log("Ordered:   ", (await client.callTool(order)).structuredContent);
  console.log("Sent again:", (await client.callTool(order)).structuredContent);
} finally {
  await client.close();
}
