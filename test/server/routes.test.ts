/** Every route, called through the generated OpenAPI description. */
import { createServer } from "node:http";
import { runWorkflow } from "toolwright";
import { describe, expect, test } from "vitest";
import { ROUTES } from "../../src/server/routes.ts";
import { createHandler, toNodeListener } from "../../src/server/index.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import {
  ask,
  DECIDER,
  errorOf,
  freshStore,
  greeting,
  openRuntime,
  patient,
  requestPayment,
  startServer,
  TOKEN,
  TOKENS,
} from "./harness.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: "path" | "query";
    readonly required: boolean;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { "application/json": { schema: object } };
  };
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, unknown>> }>>;
}

interface Description {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** The arguments for each route. A route without an entry fails the test. */
interface Values {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

describe.each(STORE_KINDS)("on $name", (kind) => {
  test("every route answers as its description says", async () => {
    const store = await freshStore(kind);
    const server = await startServer({ store, workflows: { greeting } });
    const runtime = openRuntime(store);
    const request = await requestPayment(runtime, "pay run/1");
    const [call] = await runtime.calls({ runId: "pay run/1" });
    const values: Readonly<Record<string, Values>> = {
      listRuns: { query: { status: "waiting-approval", kind: "program", q: "pay", limit: "10" } },
      startRun: { body: { workflow: "greeting", input: { name: "Ada" }, runId: "g-1" } },
      describeRun: { path: { id: "pay run/1" } },
      explainRun: { path: { id: "pay run/1" } },
      readRunValue: { path: { id: "done" }, query: { part: "output", task: "greet", path: "" } },
      listCalls: { path: { id: "pay run/1" }, query: { limit: "10" } },
      readCallPart: { path: { key: call?.key ?? "", attempt: "1" }, query: { part: "input", offset: "0" } },
      listApprovals: { query: { status: "pending" } },
      describeApproval: { path: { id: request.id } },
      streamEvents: { query: { run: "pay run/1" } },
      resumeRun: { path: { id: "pay run/1" }, body: {} },
      decideApproval: { path: { id: request.id }, body: { approved: false, argsHash: request.argsHash } },
      signalRun: { path: { id: "waiting" }, body: { name: "go", payload: { n: 1 }, key: "k" } },
      forkRun: { path: { id: "done" }, body: { at: "greet", effects: "reuse" } },
      revertRun: { path: { id: "done" }, body: { dryRun: true } },
      listSchedules: {},
      listWorkers: {},
      cancelRun: { path: { id: "pay run/2" }, body: {} },
      describeSession: {},
      createSignInLink: { body: {} },
      describeApi: {},
      checkHealth: {},
    };
    await requestPayment(runtime, "pay run/2");
    await runWorkflow(patient, { runtime, runId: "waiting", input: { name: "Ada" } });
    await runWorkflow(greeting, { runtime, runId: "done", input: { name: "Ada" } });
    await runtime.schedules.set({ name: "hourly", workflow: "greeting", everyMs: 3_600_000 });
    const description = (await ask(server, "/openapi.json")).body as Description;
    expect(description.openapi).toBe("3.1.0");
    const called: string[] = [];
    for (const [path, methods] of Object.entries(description.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const given = values[operation.operationId];
        if (given === undefined) throw new Error(`no values for ${operation.operationId}`);
        const answer = await callOperation(description, path, method, operation, given);
        const route = ROUTES.find(({ id }) => id === operation.operationId);
        expect([operation.operationId, answer.status]).toEqual([operation.operationId, route?.status]);
        expect(Object.keys(operation.responses)).toContain(String(answer.status));
        if (route?.response !== null) route?.response.parse(answer.body);
        called.push(operation.operationId);
      }
    }
    expect(called.sort()).toEqual(ROUTES.map(({ id }) => id).sort());
  });
});

async function callOperation(
  description: Description,
  path: string,
  method: string,
  operation: Operation,
  given: Values,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const url = new URL(
    `${description.servers[0]?.url}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given.path?.[name] ?? ""))}`,
  );
  const known = operation.parameters.filter((one) => one.in === "query").map(({ name }) => name);
  for (const [name, value] of Object.entries(given.query ?? {})) {
    expect(known).toContain(name);
    url.searchParams.set(name, value);
  }
  const stop = new AbortController();
  const response = await fetch(url, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    signal: stop.signal,
    ...(operation.requestBody === undefined ? {} : { body: JSON.stringify(given.body) }),
  });
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true) {
    stop.abort();
    return { status: response.status, body: undefined };
  }
  return { status: response.status, body: await response.json() };
}

describe("bad requests", () => {
  test.each([
    "/runs?limit=0",
    "/runs?limit=201",
    "/runs?limit=ten",
    "/runs?limit=1e2",
    "/runs?limit=",
    "/runs?status=done",
    "/runs?kind=job",
    "/runs?label=alone",
    "/runs?before=nowhere",
    "/runs?unknown=1",
    "/runs?limit=1&limit=2",
    "/approvals?status=open",
    "/calls/k/1?part=all",
    "/calls/k/1?offset=-1",
    "/calls/k/one",
    "/runs/r/values?part=error",
    "/runs/r/values?part=input&task=t",
    "/runs/r/values?path=0",
    "/events?run=r&status=running",
    "/runs/%ff",
    "/runs/%00",
    "/runs?q=%00",
    "/runs?label=a%3D%00",
    "/calls/%00/1",
    "/approvals?run=%00",
  ])("%s: 400", async (path) => {
    const server = await startServer({ store: await freshStore() });
    const answer = await ask(server, path);
    expect(answer.status).toBe(400);
    expect(errorOf(answer).message.length).toBeGreaterThan(10);
    expect(errorOf(answer).hint).not.toBe("");
  });

  test("a page of calls that begins nowhere: 400", async () => {
    const store = await freshStore();
    const server = await startServer({ store });
    await requestPayment(openRuntime(store), "r");
    expect((await ask(server, "/runs/r/calls?before=nowhere")).status).toBe(400);
  });

  test("an unknown run, call, request, route or workflow: 404", async () => {
    const server = await startServer({ store: await freshStore(), workflows: { greeting } });
    for (const path of [
      "/runs/none",
      "/runs/none/why",
      "/runs/none/calls",
      "/calls/none/1",
      "/events?run=none",
      "/nothing",
    ])
      expect([path, (await ask(server, path)).status]).toEqual([path, 404]);
    for (const [path, body] of [
      ["/approvals/none/decision", { approved: true, argsHash: "x" }],
      ["/runs/none/cancel", {}],
      ["/runs/none/resume", {}],
    ] as const)
      expect([path, (await ask(server, path, { body })).status]).toEqual([path, 404]);
    const unknown = await ask(server, "/runs", { body: { workflow: "greting", input: {} } });
    expect(unknown.status).toBe(404);
    expect(errorOf(unknown).message).toContain('Did you mean "greeting"');
  });

  test("another method: 405, with the methods that are allowed", async () => {
    const server = await startServer({ store: await freshStore() });
    const answer = await ask(server, "/runs/r/cancel");
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST");
    expect((await ask(server, "/approvals", { body: {} })).headers.get("allow")).toBe("GET");
  });

  test("a body that is not JSON: 400; one that does not match the schema: 422, with the field", async () => {
    const server = await startServer({ store: await freshStore(), workflows: { greeting } });
    const broken = await fetch(`${server.url}/api/v1/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: "{",
    });
    expect(broken.status).toBe(400);
    for (const body of [[], null, "x", {}, { workflow: 1 }, { workflow: "greeting", extra: 1 }])
      expect([body, (await ask(server, "/runs", { body })).status]).toEqual([body, 422]);
    let deep: unknown = "x";
    for (let level = 0; level < 2_000; level += 1) deep = [deep];
    for (const body of [
      { workflow: "greeting", input: deep },
      { workflow: "greeting", input: { name: "[".repeat(2_000) }, runId: "a\u0000" },
      { workflow: "greeting", runId: "x".repeat(513) },
      { workflow: "greeting", runId: "\ud800" },
    ])
      expect((await ask(server, "/runs", { body })).status).toBe(422);
    const brackets = { workflow: "greeting", input: { name: '[\\"'.repeat(2_000) } };
    expect((await ask(server, "/runs", { body: brackets })).status).toBe(202);
    const { message } = errorOf(await ask(server, "/runs", { body: { workflow: 1 } }));
    expect(message).toContain("workflow");
  });

  test("a body that may be left out may be empty with its type; one that is needed: 422", async () => {
    const store = await freshStore();
    const server = await startServer({ store, workflows: { greeting } });
    await requestPayment(openRuntime(store), "r");
    const empty = { method: "POST", headers: { "content-type": "application/json" } };
    expect((await ask(server, "/runs/r/cancel", empty)).status).toBe(202);
    expect((await ask(server, "/runs", empty)).status).toBe(422);
  });

  test("a request that is decided needs argsHash and one answer, and cannot name who decides", async () => {
    const store = await freshStore();
    const server = await startServer({ store });
    const { id, argsHash } = await requestPayment(openRuntime(store), "r");
    for (const body of [
      { approved: true },
      { argsHash },
      { argsHash, approved: "yes" },
      { argsHash, approved: true, resolution: "happened" },
      { argsHash, resolution: "maybe" },
      { argsHash, approved: true, decidedBy: "root" },
      { argsHash, approved: true, approvedArgs: { euros: "five" } },
      { argsHash, resolution: "give-up" },
    ])
      expect([body, (await ask(server, `/approvals/${id}/decision`, { body })).status]).toEqual([body, 422]);
    const stale = await ask(server, `/approvals/${id}/decision`, {
      body: { approved: true, argsHash: "stale" },
    });
    expect(stale.status).toBe(409);
    expect(errorOf(stale)).toMatchObject({
      code: "TOOL_APPROVAL_MISMATCH",
      hint: expect.stringContaining("Read the request again"),
    });
  });
});

test("a session says who the caller is and what the caller may do here", async () => {
  const store = await freshStore();
  const server = await startServer({ store, workflows: { greeting } });
  const session = (await ask(server, "/session", { token: DECIDER })).body;
  expect(session).toMatchObject({
    name: "alice",
    scopes: ["read", "decide"],
    readOnly: false,
    workflows: ["greeting"],
  });
  const readOnly = await startServer({ store, readOnly: true });
  expect((await ask(readOnly, "/session")).body).toMatchObject({
    name: "operator",
    scopes: ["read"],
    readOnly: true,
  });
});

test("the input and output of a run and of its tasks are read piece by piece", async () => {
  const store = await freshStore();
  const server = await startServer({ store });
  const runtime = openRuntime(store);
  await runWorkflow(greeting, { runtime, runId: "done", input: { name: "Ada".repeat(30_000) } });
  await runWorkflow(patient, { runtime, runId: "waiting", input: { name: "Ada" } });
  await requestPayment(runtime, "program");
  const read = async (path: string) => (await ask(server, path)).body as { text: string; nextOffset: number };
  const first = await read("/runs/done/values?part=input");
  const second = await read(`/runs/done/values?part=input&offset=${first.nextOffset}`);
  expect(JSON.parse(first.text + second.text)).toEqual({ name: "Ada".repeat(30_000) });
  expect(second).toMatchObject({ nextOffset: null });
  const output = await read("/runs/done/values");
  expect(output.text).toMatch(/Ada/);
  expect(await read("/runs/done/values?task=greet")).toEqual(output);
  for (const path of ["waiting/values", "program/values?part=input", "done/values?task=other"])
    expect(await read(`/runs/${path}`)).toEqual({ text: "", offset: 0, nextOffset: null, totalChars: 0 });
  expect((await ask(server, "/runs/none/values")).status).toBe(404);
});

test("the description names the cookie that this server sets", async () => {
  const server = await startServer({ store: await freshStore() });
  const { components } = (await ask(server, "/openapi.json")).body as {
    components: { securitySchemes: { browser: { name: string } } };
  };
  const signedIn = await fetch(server.signInUrl, { redirect: "manual" });
  expect(signedIn.headers.get("set-cookie")).toContain(`${components.securitySchemes.browser.name}=`);
});

test("HEAD has the headers of GET, and no body", async () => {
  const server = await startServer({ store: await freshStore() });
  const response = await fetch(`${server.url}/api/v1/runs`, {
    method: "HEAD",
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("json");
  expect(await response.text()).toBe("");
});

describe("a mounted handler", () => {
  const authorization = { authorization: `Bearer ${TOKEN}` };

  test("answers web requests without a server", async () => {
    await using handler = createHandler({ store: await freshStore(), tokens: TOKENS });
    const response = await handler(new Request("http://localhost/api/v1/runs", { headers: authorization }));
    expect(await response.json()).toEqual({ runs: [], next: null });
    expect(
      (await handler(new Request("http://app.example/api/v1/runs", { headers: authorization }))).status,
    ).toBe(403);
  });

  test("works under a path that the framework keeps", async () => {
    await using handler = createHandler({
      store: await freshStore(),
      tokens: TOKENS,
      basePath: "/ops",
      allowedHosts: ["app.example"],
    });
    const get = (path: string): Promise<Response> =>
      handler(new Request(`https://app.example${path}`, { headers: authorization }));
    expect((await get("/ops/api/v1/runs")).status).toBe(200);
    expect((await get("/api/v1/runs")).status).toBe(404);
    expect((await get("/opsapi/v1/runs")).status).toBe(404);
    const link = await handler(
      new Request("https://app.example/ops/api/v1/sign-in-links", { method: "POST", headers: authorization }),
    );
    const { signInUrl } = (await link.json()) as { signInUrl: string };
    expect(signInUrl).toMatch(/^https:\/\/app\.example\/ops\/sign-in\?code=/);
    const signedIn = await handler(new Request(signInUrl));
    expect(signedIn.status).toBe(303);
    expect(signedIn.headers.get("location")).toBe("/ops/");
    expect(signedIn.headers.get("set-cookie")).toContain("; Secure");
  });

  test("works behind node:http, even where a router removes its path from the URL, as in Express", async () => {
    await using handler = createHandler({ store: await freshStore(), tokens: TOKENS, basePath: "/ops" });
    const listener = toNodeListener(handler);
    const app = createServer((request, response) => {
      const { url = "" } = request;
      Object.assign(request, { originalUrl: url, url: url.replace("/ops", "") });
      listener(request, response);
    });
    await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
    const { port } = app.address() as { port: number };
    expect((await ask({ url: `http://127.0.0.1:${port}/ops` }, "/runs")).status).toBe(200);
    app.closeAllConnections();
    app.close();
  });

  test("uses a runtime that is given, and leaves it open", async () => {
    const runtime = openRuntime(await freshStore());
    const handler = createHandler({ runtime, tokens: TOKENS });
    const { id, argsHash } = await requestPayment(runtime, "r");
    const decided = await handler(
      new Request(`http://localhost/api/v1/approvals/${id}/decision`, {
        method: "POST",
        headers: { ...authorization, "content-type": "application/json" },
        body: JSON.stringify({ approved: true, argsHash }),
      }),
    );
    expect(decided.status).toBe(200);
    await handler.close();
    expect(await runtime.approvals({ status: "approved" })).toHaveLength(1);
  });

  test("needs a store or a runtime, and tokens", () => {
    expect(() => createHandler({ tokens: TOKENS })).toThrow("store");
    expect(() => createHandler({ store: ":memory:" })).toThrow("tokens");
    expect(() => createHandler({ store: ":memory:", tokens: [] })).toThrow("tokens");
    const twice = [TOKENS[0], { ...TOKENS[0], name: "other" }];
    expect(() => createHandler({ store: ":memory:", tokens: twice })).toThrow("earlier token");
    const bad = [{ name: "a", token: "geheim niß", scopes: ["read"] }] as const;
    expect(() => createHandler({ store: ":memory:", tokens: bad })).toThrow(/^(?!.*geheim)/);
  });
});
