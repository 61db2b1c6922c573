/** Serves the handler over HTTP: on the loopback interface unless another address and a token are given. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { networkInterfaces } from "node:os";
import { aFunction } from "../definition/option-checks.ts";
import { asOptionError } from "../definition/option-table.ts";
import { ToolwrightError } from "../errors.ts";
import { messageOf } from "../invoke/error-record.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { toTerminalLine } from "../terminal/terminal-text.ts";
import { listen } from "../http/listen.ts";
import { sendWebResponse, toWebRequest } from "../http/node-http.ts";
import { LOOPBACK_HOSTS } from "./check-request.ts";
import { type Handler, handlerWith } from "./create-handler.ts";
import { HTTP_ERRORS, type HttpErrorCode } from "./http-error.ts";
import {
  checkServerOptions,
  DEFAULT_PORT,
  explicitTokens,
  newOperatorToken,
  SERVE_OPTIONS,
  type ServeOptions,
} from "./options.ts";
import { NOT_STORED, SECURITY_HEADERS } from "./security-headers.ts";
import { signInPath } from "./sign-in.ts";

export interface ToolwrightServer extends AsyncDisposable {
  readonly url: string;
  /** Signs one browser in, once. */
  readonly signInUrl: string;
  /** The token that was generated at the start. `undefined` if tokens were given. */
  readonly token: string | undefined;
  close(): Promise<void>;
}

/** A client has this long to send its headers, and the same again for its body. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
/** A client has this long to read a response that is not a stream. */
const RESPONSE_TIMEOUT_MS = 20_000;
const MOST_CONNECTIONS = 1_000;

/**
 * Serves the API and the page of a store.
 *
 * @example
 * await using server = await serve({ store: "toolwright.db" });
 * console.log(server.signInUrl);
 */
export function serve(options: ServeOptions): Promise<ToolwrightServer> {
  return serveWith(options);
}

/** @param openRuntime creates the runtime of the store, with settings of its own */
export async function serveWith(
  options: ServeOptions,
  openRuntime?: () => Runtime,
): Promise<ToolwrightServer> {
  checkServerOptions(SERVE_OPTIONS, options);
  const { host = "127.0.0.1", port = DEFAULT_PORT, ...rest } = options;
  const explicit = explicitTokens(SERVE_OPTIONS.surface, options);
  if (explicit === undefined && !isLoopback(host)) {
    throw new ToolwrightError(
      "TOOL_OPTION_INVALID",
      `serve: host ${host} can be reached from other machines, so a token must be given.`,
      {
        hint: "Set TOOLWRIGHT_TOKEN or --token, pass tokens, or use 127.0.0.1.",
        details: { option: "host" },
      },
    );
  }
  const made = newOperatorToken();
  const allowedHosts = options.allowedHosts ?? hostNames(host);
  const { handler, tokens } = handlerWith({ ...rest, allowedHosts }, explicit ?? [made], openRuntime);
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
    },
    toNodeListener(handler),
  );
  server.maxConnections = MOST_CONNECTIONS;
  try {
    await listen(server, { surface: SERVE_OPTIONS.surface, host, port });
  } catch (error) {
    await handler.close();
    throw error;
  }
  const url = addressOf(server, host);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeAll(server, handler));
  return {
    url,
    signInUrl: `${url}${signInPath(tokens.createCode())}`,
    token: explicit === undefined ? made.token : undefined,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * The names under which a server can be reached. A server on all interfaces also has their addresses: only a name can be
 * rebound, not an address.
 */
export function hostNames(host = "127.0.0.1"): string[] {
  const bracketed = (address: string): string => (address.includes(":") ? `[${address}]` : address);
  const isEvery = host === "0.0.0.0" || host === "::";
  const addresses = Object.values(networkInterfaces()).flatMap(
    (all) => all?.map(({ address }) => address) ?? [],
  );
  return [...LOOPBACK_HOSTS, bracketed(host), ...(isEvery ? addresses.map(bracketed) : [])];
}

function addressOf(server: Server, host: string): string {
  const address = server.address() as Exclude<ReturnType<Server["address"]>, string | null>;
  // A browser cannot open the address of all interfaces.
  const shown = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${shown.includes(":") ? `[${shown}]` : shown}:${address.port}`;
}

async function closeAll(server: Server, handler: Handler): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  await handler.close();
  server.closeAllConnections();
  await closed;
}

/**
 * A listener of `node:http` requests, for Express and other Node servers.
 *
 * @example
 * app.use("/toolwright", toNodeListener(createHandler({ runtime, tokens, basePath: "/toolwright" })));
 */
export function toNodeListener(
  handler: (request: Request) => Promise<Response>,
  // Not the types of `node:http`: programs without Node's types compile against this package too.
): (request: object, response: object) => void {
  asOptionError("toNodeListener", () => aFunction(handler, "handler"));
  return (request, response) => void respond(handler, request as IncomingMessage, response as ServerResponse);
}

async function respond(
  handler: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const disconnected = new AbortController();
  response.once("close", () => disconnected.abort());
  try {
    const url = targetOf(request);
    const refusal = refusalOf(request, url);
    if (refusal !== undefined) {
      refuse(response, refusal[0], refusal[1]);
      return;
    }
    const answer = await handler(toWebRequest(request, disconnected.signal, url));
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
    using _ = isStream ? undefined : dropIfSlow(response);
    await sendWebResponse(answer, response);
  } catch (error) {
    if (disconnected.signal.aborted || response.headersSent) {
      response.destroy();
      return;
    }
    console.error(`toolwright: server: ${toTerminalLine(messageOf(error))}`);
    refuse(response, "HTTP_INTERNAL", "The server failed to answer this request.");
  }
}

const METHODS: ReadonlySet<string | undefined> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);

/** Headers that must not appear twice: two readers could each believe another one. */
const ONCE = ["host", "origin", "authorization", "content-type", "content-length", "transfer-encoding"];

/** Express removes the path of a router from `url`, and keeps the whole in `originalUrl`. */
function targetOf(request: IncomingMessage & { readonly originalUrl?: unknown }): string {
  const { url = "/", originalUrl } = request;
  return typeof originalUrl === "string" ? originalUrl : url;
}

function refusalOf(
  { method, rawHeaders }: IncomingMessage,
  url: string,
): [HttpErrorCode, string] | undefined {
  if (!METHODS.has(method)) return ["HTTP_METHOD_NOT_ALLOWED", "This method is not supported."];
  if (!url.startsWith("/")) return ["HTTP_BAD_REQUEST", "The request target must be a path."];
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const twice = ONCE.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  return twice === undefined
    ? undefined
    : ["HTTP_BAD_REQUEST", `The header ${twice} appears more than once.`];
}

function refuse(response: ServerResponse, code: HttpErrorCode, message: string): void {
  const { status } = HTTP_ERRORS[code];
  const body = { error: { code, message, hint: "The routes are listed at /api/v1/openapi.json." } };
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    ...NOT_STORED,
    "content-type": "application/json",
    connection: "close",
  });
  response.end(JSON.stringify(body));
}

function dropIfSlow(response: ServerResponse): Disposable {
  const timer = setTimeout(() => response.destroy(), RESPONSE_TIMEOUT_MS);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
