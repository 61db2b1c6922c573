/** The server's responses to mistakes: unknown names and wrong values, in options, queries and bodies. */
import { createServer } from "node:http";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { serveMcpHttp } from "../../src/adapters/mcp/index.ts";
import { createRuntime, createSmithers, defineTool, type Runtime } from "../../src/index.ts";
import { createHandler, type Handler, serve, toNodeListener } from "../../src/server/index.ts";

const token = { name: "ann", token: "secret-of-ann", scopes: ["read", "decide", "operate"] } as const;
const workflow = createSmithers({}).smithers(() => undefined as never);
const base = { store: ":memory:", tokens: [token] };
const load = (): Promise<never> => Promise.reject(new Error("not loaded"));
const pay = defineTool({
  name: "pay",
  schema: z.object({ cents: z.number() }),
  needsApproval: true,
  execute: () => 1,
});

type Mistake = [what: string, make: () => unknown, says: string];

test.each<Mistake>([
  [
    "a token without a value",
    () => handler({ tokens: [{ ...token, token: undefined }] }),
    "tokens[0].token is missing",
  ],
  [
    "a token without a name",
    () => handler({ tokens: [{ ...token, name: undefined }] }),
    "tokens[0].name is missing",
  ],
  [
    "a token without scopes",
    () => handler({ tokens: [{ ...token, scopes: undefined }] }),
    "tokens[0].scopes is missing",
  ],
  ["a misspelt scope list", () => handler({ tokens: [{ ...token, scope: [] }] }), 'Did you mean "scopes"?'],
  [
    "a misspelt file",
    () => handler({ workflows: { a: { load, fil: "a.tsx" } } }),
    'unknown option "fil" of "workflows.a". Did you mean "file"?',
  ],
  [
    "a file that is not text",
    () => handler({ workflows: { a: { load, file: 5 } } }),
    "workflows.a.file must be a non-empty string, not 5",
  ],
  [
    "a file without load",
    () => handler({ workflows: { a: { file: "a.tsx" } } }),
    "workflows.a.load is missing",
  ],
  [
    "a door that is open by coercion",
    () => handler({ workflows: { a: { load, options: { allowNetwork: "false" } } } }),
    "workflows.a.options.allowNetwork must be true or false",
  ],
  [
    "an option that the server sets",
    () => handler({ workflows: { a: { load, options: { runId: "r" } } } }),
    'unknown option "runId" of "workflows.a.options"',
  ],
  [
    "a path as a workflow",
    () => handler({ workflows: { a: "./a.tsx" } }),
    "must be a workflow from workflow(), or { load, file }",
  ],
  [
    "no handler",
    () => toNodeListener(undefined as never),
    "toNodeListener: handler must be a function, not undefined",
  ],
  [
    "options as a handler",
    () => toNodeListener(base as never),
    "toNodeListener: handler must be a function, not an object",
  ],
  [
    "a host with a port",
    () => serve({ ...base, host: "localhost:80" }),
    "serve: host must be an address or host name without scheme and port",
  ],
  ["a URL as host", () => serve({ ...base, host: "http://localhost" }), 'not "http://localhost"'],
  [
    "a URL as the MCP host",
    () => serveMcpHttp({ tools: [], host: "http://localhost" }),
    "serveMcpHttp: host must be an address",
  ],
  [
    "an MCP host with a port",
    () => serveMcpHttp({ tools: [], allowedHosts: ["a.example:80"] }),
    "without a port",
  ],
  ["any MCP origin", () => serveMcpHttp({ tools: [], allowedOrigins: ["*"] }), 'not "*"'],
])("%s is refused by name", async (_what, make, says) => {
  await expect((async () => make())()).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
    message: expect.stringContaining(says) as string,
  });
});

function handler(options: object): Handler {
  const made = createHandler({ ...base, ...options });
  onTestFinished(() => made.close());
  return made;
}

test("valid sources of workflows are accepted", () => {
  handler({ workflows: { a: workflow, b: { load, file: "b.tsx", options: { rootDir: "." } }, c: { load } } });
});

test.each(["serve", "serveMcpHttp"] as const)(
  "%s says why it cannot listen, and what to change",
  async (name) => {
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const start = (address: object): Promise<unknown> =>
      name === "serve" ? serve({ ...base, ...address }) : serveMcpHttp({ tools: [pay], ...address });
    await expect(start({ port })).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
      message: `${name}: cannot listen on 127.0.0.1:${port}: another program uses it.`,
      hint: "Choose another port, or 0 for a free one.",
    });
    // An address of the documentation: no machine has it.
    await expect(start({ host: "203.0.113.7", port: 0 })).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
      hint: expect.stringContaining("Use an address of this machine") as string,
    });
  },
);

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

async function opened(): Promise<{
  runtime: Runtime;
  send: (path: string, body?: unknown) => Promise<Refusal>;
}> {
  const runtime = createRuntime({ store: ":memory:" });
  const made = createHandler({ runtime, tokens: [token] });
  onTestFinished(async () => {
    await made.close();
    await runtime.close();
  });
  const send = async (path: string, body?: unknown): Promise<Refusal> => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const headers = { authorization: `Bearer ${token.token}`, "content-type": "application/json" };
    const response = await made(new Request(`http://localhost/api/v1${path}`, { ...sent, headers }));
    const { error } = (await response.json()) as { error?: Omit<Refusal, "status"> };
    return { status: response.status, code: error?.code ?? "", message: error?.message ?? "" };
  };
  return { runtime, send };
}

test.each([
  ["/runs?statuss=running", 'unknown query parameter "statuss". Did you mean "status"?'],
  [
    "/runs?colour=red",
    'unknown query parameter "colour". Known query parameters: status, kind, workflow, label, q, before, limit.',
  ],
  ["/runs/r?x=1", 'unknown query parameter "x". Known query parameters: none.'],
  ["/runs?limit=0", "limit: must be a whole number from 1 to 200."],
  ["/runs?limit=x", "limit: must be a whole number from 1 to 200."],
  ["/runs?limit=201", "limit: must be a whole number from 1 to 200."],
  ["/runs?before=zzz", 'before must be the "next" of a page'],
  ["/approvals?runId=r", 'Did you mean "run"?'],
])("GET %s", async (path, says) => {
  const { send } = await opened();
  const refusal = await send(path);
  expect(refusal).toMatchObject({ status: 400, code: "HTTP_BAD_REQUEST" });
  expect(refusal.message).toMatch(/^The query is not valid: /);
  // Each problem is named once.
  expect(refusal.message.split(says)).toHaveLength(2);
});

test.each<[string, unknown, string]>([
  ["/runs", { worfklow: "a" }, 'unknown field "worfklow". Did you mean "workflow"?'],
  ["/runs", { workflow: "a", runid: "r" }, 'unknown field "runid". Did you mean "runId"?'],
  ["/runs", { workflow: 5 }, "workflow: Invalid input: expected string, received number."],
  ["/runs", [], "it: Invalid input: expected object, received array."],
  ["/runs/r/cancel", { force: true }, 'unknown field "force". Known fields: none.'],
  [
    "/approvals/apr_1/decision",
    { argsHash: "", aproved: true },
    'unknown field "aproved". Did you mean "approved"?',
  ],
  [
    "/approvals/apr_1/decision",
    { argsHash: "", approved: "false" },
    "approved: Invalid input: expected boolean, received string.",
  ],
])("POST %s %j", async (path, body, says) => {
  const { send } = await opened();
  const refusal = await send(path, body);
  expect(refusal).toMatchObject({ status: 422, code: "HTTP_BODY_INVALID" });
  expect(refusal.message).toContain(says);
});

test("a denial with edited arguments is refused and decides nothing", async () => {
  const { runtime, send } = await opened();
  const outcome = await runtime.call(pay, { cents: 5 }, { runId: "r" });
  const { id = "", argsHash } = outcome.status === "pending" ? outcome.approval : {};
  const refusal = await send(`/approvals/${id}/decision`, {
    argsHash,
    approved: false,
    approvedArgs: { cents: 1 },
  });
  expect(refusal).toMatchObject({
    status: 422,
    message: expect.stringContaining("only with approved: true") as string,
  });
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
});

test.each([
  [{ status: "interrupted", interrupted: false }, "no run is both"],
  [{ q: "a\0" }, "q must not contain U+0000"],
  [{ label: "a=\uD800" }, "label must not contain U+0000 or a lone surrogate"],
] as const)("runtime.runs(%j)", async (filter, says) => {
  const { runtime } = await opened();
  await expect(runtime.runs(filter)).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
    message: expect.stringContaining(says) as string,
  });
});

test("filters of calls and approvals take no text that one of the stores refuses", async () => {
  const { runtime } = await opened();
  for (const filtered of [runtime.calls({ toolName: "a\0" }), runtime.approvals({ runId: "a\0" })])
    await expect(filtered).rejects.toMatchObject({ code: "TOOL_OPTION_INVALID" });
});

test("an allowed origin is one origin, in any case of its letters", async () => {
  const server = await serveMcpHttp({ tools: [pay], allowedOrigins: ["https://App.example.com"] });
  onTestFinished(() => server.close());
  const made = handler({ allowedOrigins: ["https://App.example.com"] });
  const post = { method: "POST", headers: { authorization: `Bearer ${token.token}` } };
  for (const [origin, isRefused] of [
    ["https://app.example.com", false],
    ["https://app.example.com:8443", true],
    ["https://evil.example", true],
  ] as const) {
    const headers = { ...post.headers, origin };
    const { status } = await fetch(server.url, { ...post, headers });
    expect(status === 403).toBe(isRefused);
    const answer = await made(
      new Request("http://localhost/api/v1/sign-in-links", { method: "POST", headers }),
    );
    expect(answer.status === 403).toBe(isRefused);
  }
});
