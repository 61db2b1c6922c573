/**
 * Answers one request: checks host and origin, identifies the caller, finds the route, validates, calls the operation, and
 * turns every error into a response. It holds no connection and works in any framework that has web requests.
 */
import { ToolwrightError } from "../errors.ts";
import { messageOf } from "../invoke/error-record.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { escapeUnsafe, escapeUnsafeInJson } from "../util/storable-text.ts";
import { toTerminalLine } from "../terminal/terminal-text.ts";
import { Backend } from "./backend.ts";
import { checkHost, checkOrigin, LOOPBACK_HOSTS, type RequestRules } from "./check-request.ts";
import { readVersion } from "../operate/open-for-operators.ts";
import { EventStreams } from "./event-streams.ts";
import { HttpError, toErrorAnswer } from "./http-error.ts";
import { API_PATH } from "./openapi.ts";
import { checkServerOptions, explicitTokens, HANDLER_OPTIONS, type HandlerOptions } from "./options.ts";
import { readJsonBody } from "./read-body.ts";
import { matchRoute, parseBody, parseParams, parseQuery, type Route, type RouteServices } from "./route.ts";
import { ROUTES } from "./routes.ts";
import { NOT_STORED, SECURITY_HEADERS } from "./security-headers.ts";
import { SIGN_IN_PATH, sessionOf, signIn } from "./sign-in.ts";
import { acceptsHtml, StaticFiles } from "./static-files.ts";
import { type Caller, type ServerToken, Tokens } from "./tokens.ts";
import { ServerWorker } from "./server-worker.ts";
import { WorkflowRuns } from "./workflow-runs.ts";

export interface Handler extends AsyncDisposable {
  (request: Request): Promise<Response>;
  /** Ends the event streams, stops runs that were started here, and closes the store if the handler opened it. */
  close(): Promise<void>;
}

/**
 * Creates a handler of web requests, to mount in Hono, Next or Express.
 *
 * @example
 * const handler = createHandler({ runtime, tokens: [{ name: "ci", token, scopes: ["read"] }] });
 * app.mount("/toolwright", handler);
 */
export function createHandler(options: HandlerOptions): Handler {
  checkServerOptions(HANDLER_OPTIONS, options);
  const tokens = explicitTokens(HANDLER_OPTIONS.surface, options);
  if (tokens === undefined) {
    throw new ToolwrightError("TOOL_OPTION_INVALID", "createHandler: tokens is missing.", {
      hint: 'Pass tokens: [{ name: "operator", token: "…", scopes: ["read", "decide", "operate"] }], or set TOOLWRIGHT_TOKEN.',
    });
  }
  return handlerWith(options, tokens).handler;
}

export interface CreatedHandler {
  readonly handler: Handler;
  readonly tokens: Tokens;
}

/** @param options checked @param openRuntime creates the runtime of `options.store` */
export function handlerWith(
  options: HandlerOptions,
  serverTokens: readonly ServerToken[],
  openRuntime?: () => Runtime,
): CreatedHandler {
  const { basePath = "", readOnly = false } = options;
  const tokens = new Tokens(serverTokens);
  const backend = new Backend(options, openRuntime);
  const workflows = new WorkflowRuns(options.workflows ?? {});
  const worker = options.worker === true ? new ServerWorker(backend, options.workflows ?? {}) : undefined;
  const streams = new EventStreams({ version: () => backend.read(readVersion) });
  const app: App = {
    services: { backend, workflows, streams, tokens, readOnly },
    rules: {
      hosts: (options.allowedHosts ?? LOOPBACK_HOSTS).map((host) => host.toLowerCase()),
      origins: (options.allowedOrigins ?? []).map((origin) => origin.toLowerCase()),
    },
    files: new StaticFiles(basePath),
    basePath,
  };
  const close = async (): Promise<void> => {
    await streams.close();
    await worker?.close();
    await workflows.close();
    await backend.close();
  };
  const handle = (request: Request): Promise<Response> => answer(app, request);
  return { handler: Object.assign(handle, { close, [Symbol.asyncDispose]: close }), tokens };
}

interface App {
  readonly services: RouteServices;
  readonly rules: RequestRules;
  readonly files: StaticFiles;
  readonly basePath: string;
}

async function answer(app: App, request: Request): Promise<Response> {
  const response = await respond(app, request).catch((error: unknown) =>
    toErrorResponse(app, error, request),
  );
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
  if (request.method !== "HEAD" || response.body === null) return response;
  await response.body.cancel();
  return new Response(null, response);
}

async function respond(app: App, request: Request): Promise<Response> {
  const host = checkHost(request, app.rules);
  const path = pathOf(app, request);
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead) checkOrigin(request, host, app.rules);
  if (path === SIGN_IN_PATH && isRead) return signIn(request, app.services.tokens, host, `${app.basePath}/`);
  const caller = app.services.tokens.identify(request.headers.get("authorization"), sessionOf(request, host));
  if (isApi(path)) return respondToApi(app, request, path.slice(API_PATH.length), caller, host);
  if (caller === undefined) throw unauthorized();
  const file = isRead ? app.files.respond(request, path) : undefined;
  if (file !== undefined) return file;
  throw new HttpError("HTTP_NOT_FOUND", "There is no such page.", "The page is at /, the API at /api/v1.");
}

function isApi(path: string): boolean {
  return path === API_PATH || path.startsWith(`${API_PATH}/`);
}

function pathOf({ basePath }: App, request: Request): string {
  const { pathname } = new URL(request.url);
  if (pathname !== basePath && !pathname.startsWith(`${basePath}/`))
    throw new HttpError("HTTP_NOT_FOUND", "There is no such page.", `Use ${basePath}/.`);
  return pathname.slice(basePath.length) || "/";
}

async function respondToApi(
  app: App,
  request: Request,
  path: string,
  caller: Caller | undefined,
  host: string,
): Promise<Response> {
  const health = ROUTES.find(({ scope, path: own }) => scope === null && own === path);
  if (caller === undefined && health === undefined) throw unauthorized();
  const method = request.method === "HEAD" ? "GET" : request.method;
  const { route, params } = matchRoute(ROUTES, method, path);
  checkScope(app, route, caller);
  const url = new URL(request.url);
  const input = {
    ...app.services,
    params: parseParams(route, params),
    query: parseQuery(route, url.searchParams),
    body: route.body === undefined ? undefined : parseBody(route.body, await readBody(request)),
    caller: caller ?? { name: "", scopes: [] },
    origin: `${url.protocol}//${host}${app.basePath}`,
  };
  const result = await route.operate(input as never);
  if (result instanceof Response) return result;
  return json(result, { status: route.status, headers: NOT_STORED });
}

/** Safe on a terminal too, where `curl` prints it. */
function json(
  value: unknown,
  { headers, ...more }: { status: number; headers: Record<string, string> },
): Response {
  const body = escapeUnsafeInJson(JSON.stringify(value));
  return new Response(body, { ...more, headers: { ...headers, "content-type": "application/json" } });
}

/**
 * Programs may leave out an empty body with its type. Browsers must not: another site could send such a request with the
 * cookie if the browser did not know `SameSite`.
 */
async function readBody(request: Request): Promise<unknown> {
  const isEmpty = request.body === null && request.headers.get("content-type") === null;
  return isEmpty && request.headers.has("authorization") ? undefined : readJsonBody(request);
}

function checkScope({ services }: App, { scope }: Route, caller: Caller | undefined): void {
  if (scope === null) return;
  if (caller?.scopes.includes(scope) !== true) {
    throw new HttpError(
      "HTTP_FORBIDDEN",
      `This needs the scope "${scope}", which the token ${JSON.stringify(caller?.name)} does not have.`,
      "Use a token with that scope.",
    );
  }
  if (services.readOnly && scope !== "read") {
    throw new HttpError(
      "HTTP_FORBIDDEN",
      "This server is read-only.",
      "Use the command line, or start a server without readOnly (--read-only).",
    );
  }
}

function unauthorized(): HttpError {
  return new HttpError(
    "HTTP_UNAUTHORIZED",
    "A valid token is required.",
    "Open the sign-in link that the server printed, or send Authorization: Bearer <token>.",
    { "www-authenticate": 'Bearer realm="toolwright"' },
  );
}

function toErrorResponse({ basePath }: App, error: unknown, request: Request): Response {
  const isRead = request.method === "GET" || request.method === "HEAD";
  const { status, body, headers } = toErrorAnswer(error, isRead);
  if (status === 500 && !request.signal.aborted)
    console.error(`toolwright: server: ${toTerminalLine(messageOf(error))}`);
  const { pathname } = new URL(request.url);
  const isPage = pathname.startsWith(basePath) && !isApi(pathname.slice(basePath.length));
  if (!isPage || !acceptsHtml(request)) return json(body, { status, headers: { ...headers, ...NOT_STORED } });
  const { message, hint } = body.error;
  // Plain text: nothing in it can be markup.
  return new Response(escapeUnsafe(`${message}\n${hint}\n`), {
    status,
    headers: { ...headers, ...NOT_STORED, "content-type": "text/plain; charset=utf-8" },
  });
}
