/** Serves tools over HTTP: by default on the loopback interface only, with a token. */
import { randomBytes } from "node:crypto";
import { toTerminalLine } from "../../../terminal/terminal-text.ts";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  createMcpHandler,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpHttpHandler,
} from "@modelcontextprotocol/server";
import {
  aHostName,
  aListenAddress,
  anOrigin,
  aPort,
  isToken,
  TOKEN_RULE,
} from "../../../http/server-checks.ts";
import { type Check, either, listOf, Problem } from "../../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../../definition/option-table.ts";
import { type Refusal, refusalOf, type RequestRules } from "./check-request.ts";
import { createServerFactory, MCP_SERVER_CHECKS, type McpServerOptions } from "./create-server.ts";
import { withSessions } from "./sessions.ts";
import { listen } from "../../../http/listen.ts";
import { sendWebResponse, toWebRequest } from "../../../http/node-http.ts";

export interface McpHttpOptions extends McpServerOptions {
  /** Default: a free port. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default: a random token. `false` disables authentication: every client that can reach the port has access. */
  readonly token?: string | false | undefined;
  /** Accepted names in the `Host` header, without ports. Default: those of the local machine, and `host`. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Accepted origins, such as `https://app.example.com`, or their host names. Default: those of the local machine. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

export interface McpHttpServer extends AsyncDisposable {
  readonly url: string;
  /** Clients send it as `Authorization: Bearer <token>`. */
  readonly token: string | undefined;
  close(): Promise<void>;
}

const PATH = "/mcp";

const aTokenOrFalse: Check = (value, field) => {
  if (value === false || isToken(value)) return;
  throw new Problem(field, `${TOKEN_RULE}, or false to require no token.`);
};

export const MCP_HTTP_OPTIONS: OptionTable = optionTable<McpHttpOptions>("serveMcpHttp", {
  ...MCP_SERVER_CHECKS,
  port: aPort,
  host: aListenAddress,
  token: aTokenOrFalse,
  allowedHosts: listOf(aHostName),
  allowedOrigins: listOf(
    either('an origin such as "https://app.example.com", or its host name', anOrigin, aHostName),
  ),
});

/** @throws TOOL_OPTION_INVALID, for example if the address is not available */
export async function serveMcpHttp(options: McpHttpOptions): Promise<McpHttpServer> {
  checkOptions(MCP_HTTP_OPTIONS, options);
  const { host = "127.0.0.1", port = 0 } = options;
  const rules = rulesOf(options, host);
  const factory = createServerFactory(options);
  const handler = withSessions(factory, createMcpHandler(factory, { onerror: logError }), logError);
  const server = createServer((request, response) => {
    void serve(handler, rules, request, response);
  });
  try {
    await listen(server, { surface: MCP_HTTP_OPTIONS.surface, host, port });
  } catch (error) {
    await handler.close();
    throw error;
  }
  const address = server.address();
  const { port: actualPort } = address as Exclude<typeof address, string | null>;
  const close = async (): Promise<void> => {
    await handler.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}${PATH}`,
    token: rules.token,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function rulesOf(options: McpHttpOptions, host: string): RequestRules {
  const { token, allowedHosts, allowedOrigins } = options;
  return {
    token: token === false ? undefined : (token ?? randomBytes(32).toString("base64url")),
    hosts: allowedHosts?.map((name) => name.toLowerCase()) ?? [
      ...localhostAllowedHostnames(),
      host.includes(":") ? `[${host}]` : host,
    ],
    origins: allowedOrigins?.map((origin) => origin.toLowerCase()) ?? localhostAllowedOrigins(),
  };
}

async function serve(
  handler: Pick<McpHttpHandler, "fetch">,
  rules: RequestRules,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A client that disconnects cancels its request.
  const disconnected = new AbortController();
  response.once("close", () => disconnected.abort());
  try {
    const refusal = refusalOf(request, rules) ?? refusalOfPath(request);
    if (refusal === undefined) {
      await sendWebResponse(await handler.fetch(toWebRequest(request, disconnected.signal)), response);
    }
    if (refusal !== undefined) refuse(response, refusal);
  } catch (error) {
    if (disconnected.signal.aborted) return;
    logError(error instanceof Error ? error : new Error(String(error)));
    if (response.headersSent) response.destroy();
    else refuse(response, { status: 500, message: "Internal server error." });
  }
}

function refusalOfPath({ url = "/" }: IncomingMessage): Refusal | undefined {
  const [path] = url.split("?");
  return path === PATH ? undefined : { status: 404, message: `Not found. Use ${PATH}.` };
}

function refuse(response: ServerResponse, { status, message, headers }: Refusal): void {
  const body = { jsonrpc: "2.0", error: { code: -32_000, message }, id: null };
  response.writeHead(status, { "Content-Type": "application/json", Connection: "close", ...headers });
  response.end(JSON.stringify(body));
}

function logError(error: Error): void {
  console.error(`toolwright: MCP: ${toTerminalLine(error.message)}`);
}
