/** The type of a route, and how a request is matched with the table of routes. */
import { z } from "zod";
import { describeIssue } from "../definition/describe-issues.ts";
import { suggestion } from "../definition/nearest-name.ts";
import type { Backend } from "./backend.ts";
import type { EventStreams } from "./event-streams.ts";
import { FIX_QUERY, HttpError } from "./http-error.ts";
import type { Caller, Scope, Tokens } from "./tokens.ts";
import type { WorkflowRuns } from "./workflow-runs.ts";

/** The dependencies of the routes' operations. */
export interface RouteServices {
  readonly backend: Backend;
  readonly workflows: WorkflowRuns;
  readonly streams: EventStreams;
  readonly tokens: Tokens;
  readonly readOnly: boolean;
}

export interface RouteInput<Params, Query, Body> extends RouteServices {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  /** The address of the server as the client wrote it, without a trailing slash. */
  readonly origin: string;
}

interface RouteOptions<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  /** Names the operation in the OpenAPI description. */
  readonly id: string;
  readonly summary: string;
  readonly method: "GET" | "POST";
  /** Under `/api/v1`, such as `/runs/:id`. */
  readonly path: string;
  /** `null`: no token is required. */
  readonly scope: Scope | null;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** The status of success. */
  readonly status: 200 | 202;
  /** `null`: a stream of server-sent events. */
  readonly response: z.ZodType | null;
  readonly operate: (input: RouteInput<z.infer<Params>, z.infer<Query>, z.infer<Body>>) => unknown;
}

export interface Route extends Omit<
  RouteOptions<z.ZodType, z.ZodType, z.ZodType>,
  "params" | "query" | "body" | "operate"
> {
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  /** `undefined`: the route takes no body. */
  readonly body: z.ZodType | undefined;
  readonly operate: (input: RouteInput<never, never, never>) => unknown;
}

const NONE = z.strictObject({});

export function route<
  Params extends z.ZodType = typeof NONE,
  Query extends z.ZodType = typeof NONE,
  Body extends z.ZodType = z.ZodUndefined,
>(options: RouteOptions<Params, Query, Body>): Route {
  return {
    ...options,
    params: options.params ?? NONE,
    query: options.query ?? NONE,
    body: options.body,
    operate: options.operate,
  };
}

export interface Matched {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** @param path below `/api/v1` @throws HttpError 404 or 405 */
export function matchRoute(routes: readonly Route[], method: string, path: string): Matched {
  const found = routes.flatMap((one) => {
    const params = matchPath(one.path, path);
    return params === undefined ? [] : [{ route: one, params }];
  });
  if (found.length === 0) {
    throw new HttpError(
      "HTTP_NOT_FOUND",
      `There is no route ${path.slice(0, 200)}.`,
      "The routes are listed at /api/v1/openapi.json.",
    );
  }
  const match = found.find(({ route: { method: own } }) => own === method);
  if (match !== undefined) return match;
  const allowed = [...new Set(found.map(({ route: { method: own } }) => own))].join(", ");
  throw new HttpError(
    "HTTP_METHOD_NOT_ALLOWED",
    `${path.slice(0, 200)} takes ${allowed}, not ${method}.`,
    "The routes are listed at /api/v1/openapi.json.",
    { allow: allowed },
  );
}

function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== text) return undefined;
    } else if (text === "") return undefined;
    else params[part.slice(1)] = decodeSegment(text);
  }
  return params;
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new HttpError(
      "HTTP_BAD_REQUEST",
      "The path contains a malformed % sequence.",
      "Encode each part of the path as UTF-8, as encodeURIComponent does.",
    );
  }
}

/** Parses query parameters. Each may appear once. @throws HttpError 400 */
export function parseQuery(route: Route, search: URLSearchParams): unknown {
  const names = [...search.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw badQuery(`The query parameter ${JSON.stringify(twice.slice(0, 100))} appears more than once.`);
  const parsed = route.query.safeParse(Object.fromEntries(search));
  if (parsed.success) return parsed.data;
  throw badQuery(`The query is not valid: ${problemsOf(parsed.error, route.query, "query parameter")}`);
}

/** @throws HttpError 422 */
export function parseBody(schema: z.ZodType, body: unknown): unknown {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new HttpError(
    "HTTP_BODY_INVALID",
    `The body is not valid: ${problemsOf(parsed.error, schema, "field")}`,
    "Correct the named fields and send it again.",
  );
}

/** @throws HttpError 400 */
export function parseParams(route: Route, params: Readonly<Record<string, string>>): unknown {
  const parsed = route.params.safeParse(params);
  if (parsed.success) return parsed.data;
  throw new HttpError(
    "HTTP_BAD_REQUEST",
    `The path is not valid: ${problemsOf(parsed.error, route.params, "part")}`,
    "Correct the named part of the path.",
  );
}

function badQuery(message: string): HttpError {
  return new HttpError("HTTP_BAD_REQUEST", message, FIX_QUERY);
}

/** Each problem as a sentence that names the field. An unknown name comes with the nearest valid one. */
function problemsOf({ issues }: z.ZodError, schema: z.ZodType, part: string): string {
  const known = namesIn(schema);
  const problems = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map(
          (name) =>
            `unknown ${part} ${JSON.stringify(name.slice(0, 100))}.${suggestion(name, known, `Known ${part}s`)}`,
        )
      : [`${describeIssue(issue, "it")}.`],
  );
  // Two checks of one field may have the same message.
  return [...new Set(problems)].join(" ").slice(0, 1_000);
}

function namesIn(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodOptional) return namesIn(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}
