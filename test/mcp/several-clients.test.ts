/** Several clients of one server must not affect each other. */
import { StreamableHTTPClientTransport, type Client } from "@modelcontextprotocol/client";
import { setTimeout as pause } from "node:timers/promises";
import { createRuntime, defineTool, type Runtime } from "toolwright";
import { serveMcpHttp } from "toolwright/mcp";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createClient, type Era, errorOf, keyed, until } from "./harness.ts";

interface World {
  readonly runtime: Runtime;
  /** How often a tool had its effect. */
  readonly effects: string[];
  readonly signals: AbortSignal[];
  readonly finish: () => void;
  connect(era: Era): Promise<Client>;
  approveAll(): Promise<number>;
}

async function createWorld(): Promise<World> {
  const runtime = createRuntime({ store: ":memory:" });
  const effects: string[] = [];
  const signals: AbortSignal[] = [];
  const finished = new AbortController();
  const effect = { schema: z.object({ sku: z.string() }), sideEffect: true, idempotent: false };
  const slow = defineTool({
    ...effect,
    name: "slow",
    execute: async ({ sku }, ctx) => {
      void ctx.idempotencyKey;
      signals.push(ctx.signal);
      // The client that receives this progress is served by this call.
      while (!finished.signal.aborted && !ctx.signal.aborted) {
        ctx.progress("still at work");
        await pause(5);
      }
      ctx.signal.throwIfAborted();
      effects.push(sku);
      return { sku };
    },
  });
  const risky = defineTool({
    ...effect,
    name: "risky",
    needsApproval: true,
    execute: ({ sku }, ctx) => {
      void ctx.idempotencyKey;
      effects.push(sku);
      return { order: effects.length };
    },
  });
  const server = await serveMcpHttp({ tools: [slow, risky], runtime, token: false });
  onTestFinished(async () => {
    await server.close();
    await runtime[Symbol.asyncDispose]();
  });
  return {
    runtime,
    effects,
    signals,
    finish: () => finished.abort(),
    async connect(era) {
      const client = createClient({ era });
      await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
      return client;
    },
    async approveAll() {
      const requests = await runtime.approvals({ status: "pending" });
      for (const { id } of requests) await runtime.resolveToolApproval(id, { approved: true });
      return requests.length;
    },
  };
}

const ERAS: readonly Era[] = ["legacy", "modern"];
const slow = { name: "slow", arguments: { sku: "gold" }, ...keyed("k") };
const risky = { name: "risky", arguments: { sku: "gold" } };

describe.each(ERAS)("clients of the %s protocol that send one key", (era) => {
  it("get the result of the call even if the first client disconnects", async () => {
    const world = await createWorld();
    const [first, second] = [await world.connect(era), await world.connect(era)];
    const hungUp = first.callTool(slow).catch((error: unknown) => error);
    await until(() => world.signals.length === 1);
    const heard = Promise.withResolvers<void>();
    const waiting = second.callTool(slow, { onprogress: () => heard.resolve() });
    await heard.promise;
    await first.close();
    expect(await hungUp).toBeInstanceOf(Error);
    world.finish();
    expect((await waiting).structuredContent).toEqual({ sku: "gold" });
    expect(world.effects).toEqual(["gold"]);
    expect(world.signals[0]?.aborted).toBe(false);
    expect(await world.runtime.calls()).toMatchObject([{ status: "success" }]);
  });

  it("have the call cancelled when the last of them disconnects", async () => {
    const world = await createWorld();
    const clients = [await world.connect(era), await world.connect(era)];
    const calls = clients.map((client) => client.callTool(slow).catch(() => undefined));
    await until(() => world.signals.length === 1);
    // A client of the older protocol can only disconnect: its requests are independent.
    for (const client of clients) await client.close();
    await Promise.all(calls);
    await until(() => world.signals[0]?.aborted === true);
    expect(world.effects).toEqual([]);
  });
});

describe.each(ERAS)("clients of the %s protocol that send no key", (era) => {
  it("have two calls that wait for approval, though they are equal", async () => {
    const world = await createWorld();
    const clients = [await world.connect(era), await world.connect(era)];
    for (const client of clients) {
      expect(errorOf(await client.callTool(risky))["error_type"]).toBe("approval_pending");
    }
    expect(await world.approveAll()).toBe(2);
    for (const client of clients) {
      expect((await client.callTool(risky)).isError).not.toBe(true);
    }
    expect(world.effects).toEqual(["gold", "gold"]);
    // Each approval was used once.
    expect(errorOf((await clients[0]?.callTool(risky)) ?? {})["error_type"]).toBe("approval_pending");
  });
});

it("treats concurrent equal calls of a client as different calls", async () => {
  const world = await createWorld();
  const client = await world.connect("modern");
  await Promise.all([client.callTool(risky), client.callTool(risky)]);
  expect(await world.approveAll()).toBe(2);
  const results = await Promise.all([client.callTool(risky), client.callTool(risky)]);
  expect(results.map(({ isError }) => isError === true)).toEqual([false, false]);
  expect(world.effects).toEqual(["gold", "gold"]);
});

it("requests approval once for a call that a client repeats before the decision", async () => {
  const world = await createWorld();
  const client = await world.connect("legacy");
  for (let repeats = 0; repeats < 3; repeats += 1) await client.callTool(risky);
  expect(await world.approveAll()).toBe(1);
  expect((await client.callTool(risky)).isError).not.toBe(true);
  expect(world.effects).toEqual(["gold"]);
});
