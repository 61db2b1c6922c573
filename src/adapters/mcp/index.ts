/**
 * `toolwright/mcp`: serves tools to MCP clients, and imports the tools of MCP servers. Needs
 * `@modelcontextprotocol/server`.
 */

import "../../load/peers/mcp.ts";

export { createMcpServer } from "./server/create-server.ts";
export type { McpServerOptions } from "./server/create-server.ts";
export { serveMcpHttp } from "./server/serve-http.ts";
export type { McpHttpOptions, McpHttpServer } from "./server/serve-http.ts";
export { serveMcpStdio } from "./server/serve-stdio.ts";
export type { McpStdioOptions, McpStdioServer } from "./server/serve-stdio.ts";

export { importMcpTools } from "./client/import-tools.ts";
export type { McpImportPolicy } from "./client/import-tools.ts";
export { pinMcpTools } from "./client/pins.ts";
export { mcpTools } from "./client/meta-tools.ts";
export type { McpTools } from "./client/meta-tools.ts";
export type { McpClient } from "./client/mcp-client.ts";

export { MCP_IDEMPOTENCY_KEY } from "./idempotency-key.ts";
