/**
 * Four tools instead of hundreds: a model searches for a server's tool, reads its schema and calls it. The nested
 * call is a call of the imported tool, with its validation, its policies and its own log entry.
 */
import { z } from "zod";
import { anObject, refuseUnknown, valuesOf } from "../../../definition/option-checks.ts";
import { asOptionError, checkOptions } from "../../../definition/option-table.ts";
import { ToolwrightError } from "../../../errors.ts";
import { messageOf } from "../../../invoke/error-record.ts";
import { defineBuiltInTool, defineTool } from "../../../tool/define-tool.ts";
import type { Tool } from "../../../tool/tool.ts";
import { importTool, MCP_IMPORT_POLICY, type McpImportPolicy } from "./import-tools.ts";
import { listRemoteTools } from "./list-remote-tools.ts";
import { anMcpClient, type McpClient, type RemoteTool } from "./mcp-client.ts";
import { pinOf } from "./pins.ts";
import { searchTools } from "./search-tools.ts";

export interface McpTools {
  readonly mcp_list_tools: Tool<{ server?: string | undefined }>;
  readonly mcp_search: Tool<{ query: string; limit?: number | undefined }>;
  readonly mcp_info: Tool<{ server: string; tool: string }>;
  readonly mcp_exec: Tool<{ server: string; tool: string; args?: Record<string, unknown> | undefined }>;
}

const server = z.string().describe("Name of the MCP server");
const tool = z.string().describe("Name of the tool, as mcp_list_tools and mcp_search give it");

/** @param policies the import policies, by the name of the server */
export function mcpTools(
  clients: Readonly<Record<string, McpClient>>,
  policies: Readonly<Record<string, McpImportPolicy>> = {},
): McpTools {
  asOptionError("mcpTools", () => {
    valuesOf(anMcpClient)(clients, "clients");
    anObject(policies, "policies");
    refuseUnknown(policies, Object.keys(clients));
  });
  for (const policy of Object.values(policies)) checkOptions(MCP_IMPORT_POLICY, policy);
  const find = new Servers(clients, policies);
  const reading = { group: "mcp", sideEffect: false } as const;
  return {
    mcp_list_tools: defineTool({
      ...reading,
      name: "mcp_list_tools",
      description: "List the tools of the connected MCP servers, or of one of them.",
      schema: z.object({ server: server.optional() }),
      execute: async (args, ctx) => ({ servers: await find.list(args.server, ctx.signal) }),
    }),
    mcp_search: defineTool({
      ...reading,
      name: "mcp_search",
      description: "Find tools of the connected MCP servers by words of their names and descriptions.",
      schema: z.object({ query: z.string().min(1), limit: z.int().min(1).max(100).default(10) }),
      execute: async ({ query, limit }, ctx) => {
        const servers = await find.list(undefined, ctx.signal);
        const tools = servers.flatMap((one) => one.tools.map((each) => ({ server: one.server, ...each })));
        return {
          tools: searchTools(tools, query, limit),
          unavailable: servers.flatMap((one) =>
            one.error === undefined ? [] : [{ server: one.server, error: one.error }],
          ),
        };
      },
    }),
    mcp_info: defineTool({
      ...reading,
      name: "mcp_info",
      description: "Show the description and the schemas of one tool of an MCP server.",
      schema: z.object({ server, tool }),
      execute: async (args, ctx) => {
        const found = await find.one(args, ctx.signal);
        return { server: args.server, ...found, pin: pinOf(found) };
      },
    }),
    mcp_exec: defineBuiltInTool({
      name: "mcp_exec",
      group: "mcp",
      description: "Call a tool of an MCP server. Read its schema with mcp_info first.",
      schema: () => z.object({ server, tool, args: z.record(z.string(), z.unknown()).default({}) }),
      sideEffect: true,
      idempotent: false,
      // The inner call is logged separately: running this again finds it, and its own policy applies.
      acceptsIdempotencyKey: false,
      onUnknown: "run",
      replay: "run",
      execute: async (args, ctx) => {
        const imported = find.imported(args, await find.one(args, ctx.signal));
        return imported.execute(args.args, { abortSignal: ctx.signal });
      },
    }),
  };
}

interface Listed {
  readonly server: string;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly error?: string;
}

class Servers {
  readonly #clients: ReadonlyMap<string, McpClient>;
  readonly #policies: ReadonlyMap<string, McpImportPolicy>;

  constructor(
    clients: Readonly<Record<string, McpClient>>,
    policies: Readonly<Record<string, McpImportPolicy>>,
  ) {
    this.#clients = new Map(Object.entries(clients));
    this.#policies = new Map(Object.entries(policies));
  }

  /** A server that does not answer is listed with its error. */
  async list(only: string | undefined, signal: AbortSignal): Promise<Listed[]> {
    const names = only === undefined ? [...this.#clients.keys()] : [only];
    const clients = names.map((name) => ({ name, client: this.#client(name) }));
    return Promise.all(
      clients.map(async ({ name, client }) => {
        try {
          const tools = (await this.#tools(name, client, signal)).map(describe);
          return { server: name, tools };
        } catch (error) {
          return { server: name, tools: [], error: messageOf(error) };
        }
      }),
    );
  }

  async one(named: { server: string; tool: string }, signal: AbortSignal): Promise<RemoteTool> {
    const tools = await this.#tools(named.server, this.#client(named.server), signal);
    const found = tools.find(({ name }) => name === named.tool);
    if (found !== undefined) return found;
    throw notFound(
      `The MCP server "${named.server}" has no tool "${named.tool}".`,
      searchTools(tools.map(describe), named.tool, 5).map(({ name }) => name),
    );
  }

  imported(named: { server: string; tool: string }, found: RemoteTool): Tool {
    const { prefix = `${named.server}.`, ...policy } = this.#policies.get(named.server) ?? {};
    const imported = importTool(this.#client(named.server), found, { ...policy, prefix });
    if (imported !== undefined) return imported;
    throw notFound(
      `The tool "${named.tool}" of the MCP server "${named.server}" is excluded by its policy.`,
      [],
    );
  }

  async #tools(name: string, client: McpClient, signal: AbortSignal): Promise<readonly RemoteTool[]> {
    const { tools: own, listTimeoutMs: timeoutMs, maxTools, maxAnswerBytes } = this.#policies.get(name) ?? {};
    const { tools } = await listRemoteTools(client, { signal, timeoutMs, maxTools, maxAnswerBytes });
    return tools.filter(
      (tool) => own === undefined || !Object.hasOwn(own, tool.name) || own[tool.name] !== false,
    );
  }

  #client(name: string): McpClient {
    const client = this.#clients.get(name);
    if (client !== undefined) return client;
    throw notFound(`There is no MCP server "${name}".`, [...this.#clients.keys()]);
  }
}

function describe({ name, description = "" }: RemoteTool): { name: string; description: string } {
  return { name, description };
}

function notFound(message: string, others: readonly string[]): ToolwrightError {
  const hint =
    others.length === 0
      ? "Use mcp_list_tools to list the available tools."
      : `Use one of: ${others.join(", ")}.`;
  return new ToolwrightError("TOOL_NOT_FOUND", message, { hint, effect: "none" });
}
