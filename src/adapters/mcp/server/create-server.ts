/** Serves tools to MCP clients with the official server, over any of its transports. */
import { randomUUID } from "node:crypto";
import { type SdkSchema, toSdkSchema } from "../../../definition/sdk-schema.ts";
import { toTerminalLine } from "../../../terminal/terminal-text.ts";
import { McpServer } from "@modelcontextprotocol/server";
import {
  aFullText,
  aRuntime,
  aText,
  aToolSource,
  type Check,
  oneOf,
  withMethods,
} from "../../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../../definition/option-table.ts";
import { ToolwrightError } from "../../../errors.ts";
import { createRuntime } from "../../../runtime/create-runtime.ts";
import type { Runtime } from "../../../runtime/runtime.ts";
import type { ToolSource } from "../../../tool/from-tool.ts";
import { createRegistry, defaultRegistry, type Registry } from "../../../tool/registry.ts";
import type { Tool } from "../../../tool/tool.ts";
import { handleCall, type CallDesk, type ToolRequest } from "./handle-call.ts";
import { describeTool, promisedBy, unservable } from "./describe-tool.ts";
import { readRequestState } from "./request-state.ts";
import { SharedRequests } from "./shared-requests.ts";
import { WaitingCalls } from "./waiting-calls.ts";

export interface McpServerOptions {
  /** A list, an object keyed by name, or a registry. */
  readonly tools?: ToolSource | undefined;
  /** Default: the global registry. */
  readonly registry?: Pick<Registry, "all"> | undefined;
  /** Default: a runtime on `toolwright.db`, opened and closed by each request. */
  readonly runtime?: Runtime | undefined;
  /** The name that the server reports to clients. */
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly instructions?: string | undefined;
  /**
   * Who may approve calls. `"elicit"` (the default): the user of the client, if the client supports elicitation.
   * `"wait"`: only users of the store, for clients that are not trusted to approve.
   */
  readonly approvals?: "elicit" | "wait" | undefined;
}

/** The options that every transport shares. */
export const MCP_SERVER_CHECKS = {
  tools: aToolSource,
  registry: withMethods("a registry made by createRegistry", "all"),
  runtime: aRuntime,
  name: aFullText,
  version: aFullText,
  instructions: aText,
  approvals: oneOf("elicit", "wait"),
} satisfies Record<keyof McpServerOptions, Check>;

export const MCP_SERVER_OPTIONS: OptionTable = optionTable<McpServerOptions>(
  "createMcpServer",
  MCP_SERVER_CHECKS,
  { example: "{ tools, runtime }" },
);

/**
 * Creates a server of the official package with these tools. Connect it to a transport, or return it from the factory
 * of `serveStdio` or `createMcpHandler`.
 *
 * @example
 * const server = createMcpServer({ tools: [placeOrder], runtime });
 * await server.connect(new StdioServerTransport());
 */
export function createMcpServer(options: McpServerOptions): McpServer {
  checkOptions(MCP_SERVER_OPTIONS, options);
  return createServerFactory(options, true)();
}

/**
 * Creates servers for many connections or requests that share their waiting calls.
 * @param listChanged whether the program has access to the server and may add tools, which clients are notified of
 */
export function createServerFactory(options: McpServerOptions, listChanged = false): () => McpServer {
  const { registry, tools } = options;
  if (registry !== undefined && tools !== undefined) {
    throw new ToolwrightError(
      "TOOL_OPTION_INVALID",
      "createMcpServer: tools and registry cannot be given together: only one of them would be served.",
      { details: { option: "registry" }, hint: "Pass tools, or a registry that has all of them." },
    );
  }
  // Duplicate names are refused here, when the program starts.
  const served = tools === undefined ? (registry ?? defaultRegistry) : createRegistry(tools);
  const waiting = new WaitingCalls();
  const shared = new SharedRequests();
  const warned = new Set<string>();
  return () => {
    const connection = randomUUID();
    const server = new McpServer(
      { name: options.name ?? "toolwright", version: options.version ?? "0.0.0" },
      {
        capabilities: { tools: { listChanged }, logging: {} },
        requestState: {
          verify: (state) => withRuntime(options.runtime, (runtime) => readRequestState(runtime, state)),
        },
        ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
      },
    );
    const answer = (request: ToolRequest): ReturnType<typeof handleCall> =>
      withRuntime(options.runtime, (runtime) =>
        handleCall(
          { runtime, server, connection, waiting, shared, approvals: options.approvals ?? "elicit" },
          request,
        ),
      );
    for (const tool of served.all()) {
      const reason = unservable(tool);
      if (reason === undefined) registerTool(server, tool, answer);
      else if (!warned.has(tool.name)) {
        warned.add(tool.name);
        console.warn(toTerminalLine(`toolwright: tool "${tool.name}" is not served over MCP: ${reason}.`));
      }
    }
    return server;
  };
}

function registerTool(
  server: McpServer,
  tool: Tool,
  answer: (request: ToolRequest) => ReturnType<typeof handleCall>,
): void {
  const described = describeTool(tool);
  const { name, title, description, annotations, icons, outputSchema, _meta } = described;
  server.registerTool(
    name,
    {
      ...(title === undefined ? {} : { title }),
      description,
      annotations,
      ...(icons === undefined ? {} : { icons }),
      // Both accept every value: our pipeline validates, and logs and answers invalid input.
      inputSchema: listed(tool.inputSchema),
      ...(outputSchema === undefined ? {} : { outputSchema: listed(outputSchema) }),
      ...(_meta === undefined ? {} : { _meta }),
    },
    (args, ctx) => answer({ tool, args, ctx, promised: promisedBy(tool, described) }),
  );
}

/** The dialect of our schemas, and MCP's default for a schema without one. */
const DIALECT = "https://json-schema.org/draft/2020-12/schema";

function listed<Value>({ jsonSchema }: SdkSchema<Value>): SdkSchema<Value> {
  return toSdkSchema(
    () => ({ $schema: DIALECT, ...jsonSchema }),
    () => Promise.resolve(undefined),
  );
}

async function withRuntime<T>(
  given: CallDesk["runtime"] | undefined,
  work: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  if (given !== undefined) return work(given);
  await using runtime = createRuntime();
  return await work(runtime);
}
