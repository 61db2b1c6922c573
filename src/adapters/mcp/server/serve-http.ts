/** Serves tools over HTTP: on this machine only and with a token, unless told otherwise. */
import { randomBytes } from "node:crypto";
import { toTerminalLine } from "../../../terminal/terminal-text.ts";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  createMcpHandler,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpHttpHandler,
} from "@modelcontextprotocol/server";
import { aFullText, type Check, describe, listOf, Problem } from "../../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../../definition/option-table.ts";
import { type Refusal, refusalOf, type RequestRules } from "./check-request.ts";
import { createServerFactory, MCP_SERVER_CHECKS, type McpServerOptions } from "./create-server.ts";
import { withSessions } from "./sessions.ts";
import { sendWebResponse, toWebRequest } from "./node-http.ts";

export interface McpHttpOptions extends McpServerOptions {
  /** Default: one that is free. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default: a new one. `false` lets everybody in who can reach the port. */
  readonly token?: string | false | undefined;
  /** Names by which clients may call this server. Default: those of this machine, and `host`. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Names of pages that may call it. Default: those of this machine. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

export interface McpHttpServer extends AsyncDisposable {
  readonly url: string;
  /** What clients send as `Authorization: Bearer <token>`. */
  readonly token: string | undefined;
  close(): Promise<void>;
}

const PATH = "/mcp";

/** Other characters do not get through a header as they are: nobody could ever come in. */
const aToken: Check = (value, field) => {
  if (value === false || (typeof value === "string" && /^[\x21-\x7e]+$/.test(value))) return;
  throw new Problem(field, "must be a text of ASCII characters without spaces, or false to ask for none.");
};

const aPort: Check = (value, field) => {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535) return;
  throw new Problem(field, `must be a whole number from 0 to 65535, not ${describe(value)}.`);
};

export const MCP_HTTP_OPTIONS: OptionTable = optionTable<McpHttpOptions>("serveMcpHttp", {
  ...MCP_SERVER_CHECKS,
  port: aPort,
  host: aFullText,
  token: aToken,
  allowedHosts: listOf(aFullText),
  allowedOrigins: listOf(aFullText),
});

/** @throws where the port cannot be had */
export async function serveMcpHttp(options: McpHttpOptions): Promise<McpHttpServer> {
  checkOptions(MCP_HTTP_OPTIONS, options);
  const { host = "127.0.0.1", port = 0 } = options;
  const rules = rulesOf(options, host);
  const factory = createServerFactory(options);
  const handler = withSessions(factory, createMcpHandler(factory, { onerror: complain }), complain);
  const server = createServer((request, response) => {
    void serve(handler, rules, request, response);
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  const { port: taken } = address as Exclude<typeof address, string | null>;
  const close = async (): Promise<void> => {
    await handler.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}${PATH}`,
    token: rules.token,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function rulesOf(options: McpHttpOptions, host: string): RequestRules {
  const { token, allowedHosts, allowedOrigins } = options;
  return {
    token: token === false ? undefined : (token ?? randomBytes(32).toString("base64url")),
    hosts: allowedHosts ?? [...localhostAllowedHostnames(), host.includes(":") ? `[${host}]` : host],
    origins: allowedOrigins ?? localhostAllowedOrigins(),
  };
}

async function serve(
  handler: Pick<McpHttpHandler, "fetch">,
  rules: RequestRules,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A client that hangs up cancels what it asked for.
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    const refusal = refusalOf(request, rules) ?? refusalOfPath(request);
    if (refusal === undefined) {
      await sendWebResponse(await handler.fetch(toWebRequest(request, gone.signal)), response);
    }
    if (refusal !== undefined) refuse(response, refusal);
  } catch (error) {
    if (gone.signal.aborted) return;
    complain(error instanceof Error ? error : new Error(String(error)));
    if (response.headersSent) response.destroy();
    else refuse(response, { status: 500, message: "The server failed at this request." });
  }
}

function refusalOfPath({ url = "/" }: IncomingMessage): Refusal | undefined {
  const [path] = url.split("?");
  return path === PATH ? undefined : { status: 404, message: `There is nothing here; use ${PATH}.` };
}

function refuse(response: ServerResponse, { status, message, headers }: Refusal): void {
  const body = { jsonrpc: "2.0", error: { code: -32_000, message }, id: null };
  response.writeHead(status, { "Content-Type": "application/json", Connection: "close", ...headers });
  response.end(JSON.stringify(body));
}

function complain(error: Error): void {
  console.error(`toolwright: MCP: ${toTerminalLine(error.message)}`);
}
