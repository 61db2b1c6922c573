/** Sessions of clients of the 2025 protocol: resumed streams, and calls of clients that do not reconnect. */
import { createRuntime, defineTool } from "toolwright";
import { serveMcpHttp } from "toolwright/mcp";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { until } from "./harness.ts";

async function start() {
  const signals: AbortSignal[] = [];
  const finished = Promise.withResolvers<void>();
  const slow = defineTool({
    name: "slow",
    schema: z.object({}),
    execute: async (_args, ctx) => {
      signals.push(ctx.signal);
      const stopped = new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      await Promise.race([finished.promise, stopped]);
      return "done";
    },
  });
  const runtime = createRuntime({ store: ":memory:" });
  const server = await serveMcpHttp({ tools: [slow], runtime, token: false });
  onTestFinished(async () => {
    finished.resolve();
    await server.close();
    await runtime.close();
  });
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
  };
  const send = (method: string, body?: object, more: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(server.url, {
      method,
      headers: { ...headers, ...more },
      ...(body === undefined ? {} : { body: JSON.stringify({ jsonrpc: "2.0", ...body }) }),
      ...(signal === undefined ? {} : { signal }),
    });
  const initialize = {
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "a test", version: "1.0.0" },
    },
  };
  const opened = await send("POST", initialize);
  await opened.text();
  headers["mcp-session-id"] = opened.headers.get("mcp-session-id") ?? "";
  headers["mcp-protocol-version"] = "2025-11-25";
  const call = (signal: AbortSignal) =>
    send("POST", { id: 2, method: "tools/call", params: { name: "slow", arguments: {} } }, {}, signal);
  return { send, call, signals, finish: () => finished.resolve() };
}

/** The first event of a stream. */
async function firstEventOf(response: Response): Promise<{ id: string; text: string }> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes("\n\n")) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  return { id: /^id: (.*)$/m.exec(text)?.[1] ?? "", text };
}

it("a client that lost its connection gets the result when it connects again", async () => {
  const { send, call, signals, finish } = await start();
  const connection = new AbortController();
  const { id, text } = await firstEventOf(await call(connection.signal));
  expect(text).toMatch(/^retry: \d+$/m);
  await until(() => signals.length === 1);
  connection.abort();
  const reconnect = () => send("GET", undefined, { "Last-Event-ID": id });
  let again = await reconnect();
  // Wait until the server has noticed the closed connection.
  while (again.status === 409) again = await reconnect();
  finish();
  const { text: event } = await firstEventOf(again);
  expect(event).toContain('"text":"done"');
  expect(signals[0]?.aborted).toBe(false);
});

it("a call whose client does not reconnect is cancelled", async () => {
  const { call, signals } = await start();
  const connection = new AbortController();
  await call(connection.signal);
  await until(() => signals.length === 1);
  connection.abort();
  await until(() => signals[0]?.aborted === true);
});

it("a session that is closed ends its calls, and is not found afterwards", async () => {
  const { send, call, signals } = await start();
  const answer = await call(AbortSignal.timeout(60_000));
  await until(() => signals.length === 1);
  expect((await send("DELETE")).status).toBe(200);
  await until(() => signals[0]?.aborted === true);
  await answer.body?.cancel().catch(() => undefined);
  const list = await send("POST", { id: 3, method: "tools/list", params: {} });
  expect(list.status).toBe(404);
  expect(await list.json()).toMatchObject({
    error: { message: expect.stringContaining("initialize again") },
  });
});
