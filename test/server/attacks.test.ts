/** Attacks by other programs, web pages and clients. */
import { beforeEach, describe, expect, test } from "vitest";
import { serve, type ToolwrightServer } from "../../src/server/index.ts";
import {
  ask,
  DECIDER,
  errorOf,
  freshStore,
  openEvents,
  openRuntime,
  rawRequest,
  READER,
  requestPayment,
  sendText,
  startServer,
  TOKEN,
} from "./harness.ts";

let server: ToolwrightServer;
let store: string;
const bearer = { authorization: `Bearer ${TOKEN}` };

beforeEach(async () => {
  store = await freshStore();
  server = await startServer({ store });
});

describe("tokens", () => {
  test.each(["/runs", "/runs/x", "/approvals", "/events", "/openapi.json", "/no-such-route", ""])(
    "a request of %s without a token is refused",
    async (path) => {
      const answer = await ask(server, path, { token: null });
      expect(answer.status).toBe(401);
      expect(errorOf(answer)).toMatchObject({ code: "HTTP_UNAUTHORIZED" });
      expect(errorOf(answer).hint).not.toBe("");
    },
  );

  test.each([
    ["a wrong token", "Bearer wrong"],
    ["a part of the token", `Bearer ${TOKEN.slice(0, -1)}`],
    ["more than the token", `Bearer ${TOKEN}x`],
    ["no token", "Bearer "],
    ["another scheme", `Basic ${TOKEN}`],
    ["the token alone", TOKEN],
    ["two tokens", `Bearer ${TOKEN} ${TOKEN}`],
  ])("%s is refused, and never repeated in the answer", async (_, authorization) => {
    const answer = await ask(server, "/runs", { token: null, headers: { authorization } });
    expect(answer.status).toBe(401);
    expect(JSON.stringify(answer.body)).not.toContain(TOKEN.slice(0, 10));
  });

  test("a token in the query is refused", async () => {
    for (const query of [`token=${TOKEN}`, `access_token=${TOKEN}`])
      expect((await ask(server, `/runs?${query}`, { token: null })).status).toBe(401);
  });

  test("a wrong token is refused even with a valid cookie", async () => {
    const cookie = await signIn();
    const headers = { cookie, authorization: "Bearer wrong" };
    expect((await ask(server, "/runs", { token: null, headers })).status).toBe(401);
  });

  test("the health check needs no token and reveals nothing about the store", async () => {
    const answer = await ask(server, "/healthz", { token: null });
    expect(answer).toMatchObject({ status: 200, body: { status: "ok", store: "ok" } });
  });

  test("a token without the scope is refused, with the scope in the message", async () => {
    const request = await requestPayment(openRuntime(store), "r");
    const decision = { approved: true, argsHash: request.argsHash };
    const path = `/approvals/${request.id}/decision`;
    const refused = await ask(server, path, { token: READER, body: decision });
    expect(refused.status).toBe(403);
    expect(errorOf(refused)).toMatchObject({
      code: "HTTP_FORBIDDEN",
      message: expect.stringContaining("decide"),
    });
    expect((await ask(server, "/runs/r/cancel", { token: DECIDER, body: {} })).status).toBe(403);
    expect((await ask(server, "/runs", { token: DECIDER, body: { workflow: "w" } })).status).toBe(403);
    expect((await ask(server, path, { token: DECIDER, body: decision })).status).toBe(200);
  });

  test("a read-only server refuses writes of every token", async () => {
    const readOnly = await startServer({ store, readOnly: true });
    const request = await requestPayment(openRuntime(store), "r");
    const decision = { approved: true, argsHash: request.argsHash };
    for (const [path, body] of [
      [`/approvals/${request.id}/decision`, decision],
      ["/runs", { workflow: "w" }],
      ["/runs/r/cancel", {}],
      ["/runs/r/resume", {}],
    ] as const)
      expect((await ask(readOnly, path, { body })).status).toBe(403);
    expect((await ask(readOnly, "/runs")).status).toBe(200);
  });

  test("a server on another address than loopback does not start without an explicit token", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.com"])
      await expect(serve({ store, host, port: 0 })).rejects.toMatchObject({
        code: "TOOL_OPTION_INVALID",
        message: expect.stringContaining("token"),
      });
  });

  test("a server on all interfaces starts with an explicit token", async () => {
    const open = await startServer({ store, host: "0.0.0.0" });
    expect((await ask(open, "/runs")).status).toBe(200);
    expect((await ask(open, "/runs", { token: null })).status).toBe(401);
    expect((await rawRequest(open, "/api/v1/runs", { ...bearer, host: "evil.example" })).status).toBe(403);
  });
});

describe("the sign-in link", () => {
  test("works once, and gives a cookie that scripts and other sites cannot use", async () => {
    const first = await fetch(server.signInUrl, { redirect: "manual" });
    expect(first.status).toBe(303);
    expect(first.headers.get("location")).toBe("/");
    expect(first.headers.get("cache-control")).toBe("no-store");
    const cookie = first.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/; HttpOnly(;|$)/);
    expect(cookie).toMatch(/; SameSite=Strict(;|$)/);
    expect(cookie).not.toMatch(/Domain=/);
    const second = await fetch(server.signInUrl, { redirect: "manual" });
    expect(second.status).toBe(401);
    expect(second.headers.get("set-cookie")).toBeNull();
    expect(
      (await ask(server, "/runs", { token: null, headers: { cookie: cookie.split(";")[0] ?? "" } })).status,
    ).toBe(200);
  });

  test.each([
    ["party", "/runs/party"],
    ["//evil.example", "/runs/%2F%2Fevil.example"],
    ["../../evil\r\nset-cookie: a=b", "/runs/..%2F..%2Fevil%0D%0Aset-cookie%3A%20a%3Db"],
  ])("leads to the run %j of this server, and nowhere else", async (run, location) => {
    const first = await fetch(`${server.signInUrl}&run=${encodeURIComponent(run)}`, { redirect: "manual" });
    expect(first.status).toBe(303);
    expect(first.headers.get("location")).toBe(location);
  });

  test("works once for twenty browsers that open it at the same time", async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => fetch(server.signInUrl, { redirect: "manual" })),
    );
    expect(all.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(all.filter(({ status }) => status === 401)).toHaveLength(19);
  });

  test("is not used up by a program that looks at it with HEAD", async () => {
    expect((await fetch(server.signInUrl, { method: "HEAD", redirect: "manual" })).status).toBe(401);
    expect((await fetch(server.signInUrl, { redirect: "manual" })).status).toBe(303);
  });

  test.each(["", "?code=", "?code=wrong", "?code=wrong&code=wrong"])("refuses %j", async (query) => {
    expect((await fetch(`${server.url}/sign-in${query}`, { redirect: "manual" })).status).toBe(401);
  });

  test("decisions of the browser are attributed to the browser", async () => {
    const cookie = await signIn();
    const { id, argsHash } = await requestPayment(openRuntime(store), "r");
    const answer = await ask(server, `/approvals/${id}/decision`, {
      token: null,
      headers: { cookie, origin: server.url, "sec-fetch-site": "same-origin" },
      body: { approved: true, argsHash },
    });
    expect(answer).toMatchObject({ status: 200, body: { decidedBy: "browser", status: "approved" } });
  });

  test("a token can request another link, with its own name and scopes", async () => {
    const answer = await ask(server, "/sign-in-links", { token: READER, body: {} });
    const { signInUrl } = answer.body as { signInUrl: string };
    const signedIn = await fetch(signInUrl, { redirect: "manual" });
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect((await ask(server, "/runs", { token: null, headers: { cookie } })).status).toBe(200);
    expect((await ask(server, "/runs/r/cancel", { token: null, headers: { cookie }, body: {} })).status).toBe(
      403,
    );
  });
});

describe("web pages of other sites", () => {
  test.each([
    "evil.example",
    "evil.example:80",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "127.0.0.1@evil.example",
  ])("a request for the host %j is refused, even with a token (DNS rebinding)", async (host) => {
    const { status, text } = await rawRequest(server, "/api/v1/runs", { ...bearer, host });
    expect([400, 403]).toContain(status);
    expect(text).not.toContain('"runs"');
    expect((await rawRequest(server, "/api/v1/healthz", { host })).status).toBe(status);
    expect((await rawRequest(server, "/", { host })).status).toBe(status);
  });

  test.each(["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])("the host %s is allowed", async (name) => {
    const host = `${name}:${new URL(server.url).port}`;
    expect((await rawRequest(server, "/api/v1/runs", { ...bearer, host })).status).toBe(200);
  });

  test.each([
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://127.0.0.1:1" },
    { origin: "http://127.0.0.1" },
    { origin: "file://" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "null", "sec-fetch-site": "same-origin" },
  ])("a write with %j is refused", async (headers) => {
    const { id, argsHash } = await requestPayment(openRuntime(store), "r");
    const body = { approved: true, argsHash };
    const answer = await ask(server, `/approvals/${id}/decision`, { headers, body });
    expect(answer.status).toBe(403);
    expect(errorOf(answer).code).toBe("HTTP_ORIGIN_REFUSED");
    expect((await ask(server, "/runs/r/cancel", { headers, body: {} })).status).toBe(403);
    expect((await ask(server, "/approvals?status=pending")).body).toMatchObject({ approvals: [{ id }] });
  });

  test("a listed origin may write, and null cannot be listed", async () => {
    const listed = await startServer({ store, allowedOrigins: ["https://ops.example"] });
    const { id, argsHash } = await requestPayment(openRuntime(store), "r");
    const body = { approved: true, argsHash };
    const headers = { origin: "https://ops.example", "sec-fetch-site": "cross-site" };
    expect((await ask(listed, `/approvals/${id}/decision`, { headers, body })).status).toBe(200);
    await expect(serve({ store, port: 0, allowedOrigins: ["null"] })).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
    });
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain; application/json",
    "application/jsonx",
    "application/json; charset=utf-16",
  ])("a write of the type %s is refused", async (type) => {
    const { id, argsHash } = await requestPayment(openRuntime(store), "r");
    const answer = await ask(server, `/approvals/${id}/decision`, {
      headers: { "content-type": type },
      body: { approved: true, argsHash },
    });
    expect(answer.status).toBe(415);
    expect(errorOf(answer).code).toBe("HTTP_UNSUPPORTED_TYPE");
  });

  test("a browser cannot send a command without a JSON type; a program may leave out an empty body", async () => {
    const cookie = await signIn();
    await requestPayment(openRuntime(store), "r");
    expect(
      (await ask(server, "/runs/r/cancel", { token: null, method: "POST", headers: { cookie } })).status,
    ).toBe(415);
    expect((await ask(server, "/runs/none/cancel", { method: "POST" })).status).toBe(404);
  });

  test("no response allows another origin to read it", async () => {
    const headers = { origin: "https://evil.example" };
    const answer = await ask(server, "/runs", { headers });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    const preflight = await ask(server, "/runs", { method: "OPTIONS", headers });
    expect(preflight.status).toBe(403);
  });

  test.each(["/", "/api/v1/runs", "/api/v1/none", "/api/v1/healthz", "/sign-in", "/../etc"])(
    "%s has the headers that protect the page",
    async (path) => {
      const { headers } = await rawRequest(server, path, bearer);
      expect(headers["content-security-policy"]).toContain("default-src 'none'");
      expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
      expect(headers["content-security-policy"]).not.toContain("unsafe");
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["referrer-policy"]).toBe("no-referrer");
      expect(headers["x-frame-options"]).toBe("DENY");
    },
  );
});

describe("files", () => {
  test.each([
    "/../package.json",
    "/..%2f..%2fpackage.json",
    "/%2e%2e/%2e%2e/package.json",
    "/....//....//package.json",
    "/..\\..\\package.json",
    "//etc/passwd",
    "/%00",
    "/index.html/../../../package.json",
    "/server/index.js",
    "/cli/main.js",
  ])("the path %s does not leave the folder of the page", async (path) => {
    const { status, text } = await rawRequest(server, path, bearer);
    expect([400, 404]).toContain(status);
    expect(text).not.toContain("dependencies");
    expect(text).not.toContain("root:");
  });

  test("the page needs a token too", async () => {
    expect((await fetch(`${server.url}/`)).status).toBe(401);
    expect((await fetch(`${server.url}/index.html`)).status).toBe(401);
  });
});

describe("large and slow requests", () => {
  test("a body over 1 MiB is refused, with or without its length", async () => {
    const body = { approved: true, argsHash: "x", comment: "a".repeat(1_048_577) };
    const answer = await ask(server, "/approvals/a/decision", { body });
    expect(answer.status).toBe(413);
    expect(errorOf(answer).code).toBe("HTTP_BODY_TOO_LARGE");
    const chunked = sendText(
      server,
      `POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    for (let sent = 0; sent <= 17; sent += 1) chunked.socket.write(`10000\r\n${" ".repeat(65_536)}\r\n`);
    expect(await chunked.closed).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("a body of exactly 1 MiB is read", async () => {
    const comment = "a".repeat(1_048_576 - JSON.stringify({ workflow: "w", runId: "" }).length);
    const answer = await ask(server, "/runs", { body: { workflow: "w", runId: comment } });
    expect(answer.status).toBe(404);
  });

  test("a body that never arrives ends the connection in time", { timeout: 40_000 }, async () => {
    const started = performance.now();
    const { closed } = sendText(
      server,
      `POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    expect(await closed).toMatch(/^HTTP\/1\.1 408 /);
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  test("headers that never end close the connection in time", { timeout: 40_000 }, async () => {
    const started = performance.now();
    await sendText(server, "GET /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ").closed;
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  test("the 51st event stream is refused, and a closed one makes room", async () => {
    const streams = await Promise.all(Array.from({ length: 50 }, () => openEvents(server)));
    expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    const refused = await ask(server, "/events");
    expect(refused.status).toBe(503);
    expect(errorOf(refused).code).toBe("HTTP_TOO_MANY_STREAMS");
    expect((await ask(server, "/runs")).status).toBe(200);
    streams[0]?.close();
    await expect.poll(async () => (await openEvents(server)).status).toBe(200);
  });

  test("streams that are opened and torn down at once leave no trace", async () => {
    for (let round = 0; round < 4; round += 1) {
      const all = Array.from({ length: 40 }, () =>
        sendText(
          server,
          `GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
        ),
      );
      for (const { socket } of all) socket.end(() => socket.destroy());
      await Promise.all(all.map(({ closed }) => closed));
    }
    await expect.poll(async () => (await openEvents(server)).status).toBe(200);
  });
});

describe("requests that two readers could understand differently", () => {
  const head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;

  test.each([
    ["two lengths", `POST /api/v1/runs HTTP/1.1\r\n${head}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}`],
    [
      "a length and chunks",
      `POST /api/v1/runs HTTP/1.1\r\n${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["two hosts", `GET /api/v1/runs HTTP/1.1\r\n${head}Host: evil.example\r\nConnection: close\r\n\r\n`],
    [
      "two tokens",
      `GET /api/v1/runs HTTP/1.1\r\n${head}Authorization: Bearer x\r\nConnection: close\r\n\r\n`,
    ],
    [
      "an address as the path",
      `GET http://evil.example/api/v1/runs HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
    ],
    [
      "a space before the colon",
      `GET /api/v1/runs HTTP/1.1\r\nHost : 127.0.0.1\r\nConnection: close\r\n\r\n`,
    ],
    [
      "a folded header",
      `GET /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n evil.example\r\nConnection: close\r\n\r\n`,
    ],
    ["no host", `GET /api/v1/runs HTTP/1.1\r\nConnection: close\r\n\r\n`],
    ["an empty host", `GET /api/v1/runs HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n`],
    ["a line feed alone", `GET /api/v1/runs HTTP/1.1\nHost: evil.example\nConnection: close\n\n`],
  ])("%s: refused, and the connection is closed", async (_, text) => {
    expect(await sendText(server, text).closed).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  test.each(["TRACE", "PUT", "DELETE", "PATCH"])("%s is not allowed", async (method) => {
    const { status } = await rawRequest(server, "/api/v1/runs", bearer, { method });
    expect(status).toBe(405);
  });
});

async function signIn(): Promise<string> {
  const response = await fetch(server.signInUrl, { redirect: "manual" });
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}
