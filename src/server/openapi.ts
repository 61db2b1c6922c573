/** The OpenAPI 3.1 description of the API, generated from the table of routes. */
import { z } from "zod";
import { ERROR } from "./schemas.ts";
import { LARGEST_BODY_BYTES } from "./read-body.ts";
import type { Route } from "./route.ts";
import { cookieName } from "./sign-in.ts";

export const API_PATH = "/api/v1";

type Json = Readonly<Record<string, unknown>>;

/** @param server the address of the server */
export function describeApi(routes: readonly Route[], version: string, server: string): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const one of routes) {
    const path = one.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [one.method.toLowerCase()]: describeRoute(one) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Toolwright",
      version,
      description: `Runs, calls and approvals of a store. Request bodies are JSON of at most ${LARGEST_BODY_BYTES} bytes.`,
    },
    servers: [{ url: `${server}${API_PATH}` }],
    security: [{ token: [] }, { browser: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        browser: { type: "apiKey", in: "cookie", name: cookieName(new URL(server).host) },
      },
      schemas: { Error: toSchema(ERROR) },
    },
  };
}

const ERROR_RESPONSES = {
  "400": "The path, the query or the JSON is malformed.",
  "401": "There is no valid token.",
  "403": "The token lacks the scope, or the host or origin is not allowed.",
  "404": "There is no such run, request, call or workflow.",
  "408": "The body did not arrive in time.",
  "409": "The current state does not allow it.",
  "413": "The body is too large.",
  "415": "The body is not JSON.",
  "422": "The body does not match its schema.",
  "500": "An unexpected error, which the server logs.",
  "503": "The store cannot be used, or all event streams are in use.",
} as const;

const OF_WRITES: ReadonlySet<string> = new Set(["408", "409", "413", "415", "422"]);

function describeRoute(one: Route): Json {
  const statuses = Object.entries(ERROR_RESPONSES).filter(
    ([status]) => one.method === "POST" || !OF_WRITES.has(status),
  );
  return {
    operationId: one.id,
    summary: one.summary,
    ...(one.scope === null ? { security: [] } : { "x-scope": one.scope }),
    parameters: [...parametersOf(one.params, "path"), ...parametersOf(one.query, "query")],
    ...(one.body === undefined
      ? {}
      : {
          requestBody: {
            required: !one.body.safeParse(undefined).success,
            content: { "application/json": { schema: toSchema(one.body) } },
          },
        }),
    responses: {
      [String(one.status)]: {
        description: one.summary,
        content:
          one.response === null
            ? { "text/event-stream": { schema: { type: "string" } } }
            : { "application/json": { schema: toSchema(one.response, "output") } },
      },
      ...Object.fromEntries(
        statuses.map(([status, description]) => [
          status,
          {
            description,
            content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
          },
        ]),
      ),
    },
  };
}

function parametersOf(schema: z.ZodType, location: "path" | "query"): Json[] {
  const { properties = {}, required = [] } = toSchema(schema) as {
    properties?: Record<string, object>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: location,
    required: location === "path" || required.includes(name),
    schema: property,
  }));
}

function toSchema(schema: z.ZodType, io: "input" | "output" = "input"): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}
