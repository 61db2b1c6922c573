/** The MCP servers of a config: clients that connect on first use, and reconnect after a lost connection. */
import { resolve } from "node:path";
import type { McpImportPolicy } from "../adapters/mcp/client/import-tools.ts";
import type { McpClient } from "../adapters/mcp/client/mcp-client.ts";
import { aFullText, anObject, Problem } from "../definition/option-checks.ts";
import { ToolwrightError } from "../errors.ts";
import { importPeer, peerHint } from "../load/import-peer.ts";
import { messageOf } from "../invoke/error-record.ts";
import type { Tool } from "../tool/tool.ts";

interface ServerEntry {
  readonly command?: string;
  readonly args?: readonly string[];
  /** Added to the few variables that every program needs. Secrets of this process are not passed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the tools of the server may do: see docs/guides/mcp.md. */
  readonly policy?: McpImportPolicy;
}

/** The four tools that find and call the tools of the servers. @throws Problem */
export async function toolsOfServers(
  servers: Readonly<Record<string, unknown>>,
  folder: string,
): Promise<Tool[]> {
  const entries = Object.entries(servers).map(([name, given]) => [name, checkEntry(name, given)] as const);
  const { mcpTools } = await importPeer(
    "@modelcontextprotocol/server",
    () => import("../adapters/mcp/client/meta-tools.ts"),
  );
  const clients = entries.map(([name, entry]) => [
    name,
    isClient(entry) ? entry : connectLater(name, entry, folder),
  ]);
  const policies = entries.flatMap(([name, entry]) =>
    isClient(entry) || entry.policy === undefined ? [] : [[name, entry.policy] as const],
  );
  const tools = mcpTools(
    Object.fromEntries(clients) as Record<string, McpClient>,
    Object.fromEntries(policies),
  );
  return Object.values(tools) as Tool[];
}

function checkEntry(name: string, given: unknown): ServerEntry | McpClient {
  const field = `mcpServers.${name}`;
  anObject(given, field);
  const entry = given as ServerEntry;
  if (isClient(entry)) return entry;
  if (entry.command === undefined && entry.url === undefined)
    throw new Problem(field, 'must have a "command" to start, or a "url" to connect to.');
  if (entry.command !== undefined) aFullText(entry.command, `${field}.command`);
  if (entry.url !== undefined && !URL.canParse(entry.url))
    throw new Problem(`${field}.url`, "must be a URL.");
  return entry;
}

function isClient(value: ServerEntry | McpClient): value is McpClient {
  return "callTool" in value && typeof value.callTool === "function";
}

function connectLater(name: string, entry: ServerEntry, folder: string): McpClient {
  let connection: Promise<McpClient> | undefined;
  const connected = (): Promise<McpClient> => {
    const lost = (): void => {
      connection = undefined;
    };
    connection ??= connect(entry, folder, lost).catch((cause: unknown) => {
      lost();
      throw new ToolwrightError(
        "TOOL_EXECUTION_FAILED",
        `The MCP server "${name}" cannot be reached: ${messageOf(cause)}`,
        { effect: "none", cause },
      );
    });
    return connection;
  };
  return {
    listTools: async (params, options) => (await connected()).listTools(params, options),
    callTool: async (params, options) => (await connected()).callTool(params, options),
  };
}

const CLIENT = "@modelcontextprotocol/client";

async function connect(entry: ServerEntry, folder: string, onLost: () => void): Promise<McpClient> {
  const { Client, StreamableHTTPClientTransport } = await importPeer(
    CLIENT,
    () => import("@modelcontextprotocol/client"),
  ).catch((cause: unknown) => {
    throw new Error(`it needs a package. ${peerHint(CLIENT, cause)}`, { cause });
  });
  const client = Object.assign(new Client({ name: "toolwright", version: "1" }), { onclose: onLost });
  if (entry.command === undefined) {
    const headers = entry.headers === undefined ? {} : { requestInit: { headers: { ...entry.headers } } };
    await client.connect(new StreamableHTTPClientTransport(new URL(entry.url ?? ""), headers));
    return client;
  }
  const { StdioClientTransport } = await importPeer(
    CLIENT,
    () => import("@modelcontextprotocol/client/stdio"),
  );
  await client.connect(
    new StdioClientTransport({
      command: entry.command,
      args: [...(entry.args ?? [])],
      cwd: resolve(folder, entry.cwd ?? "."),
      ...(entry.env === undefined ? {} : { env: { ...entry.env } }),
    }),
  );
  return client;
}
