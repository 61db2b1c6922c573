/** The samples of the Smithers pages about defineTool, with the package name changed. */
import {
  defineTool,
  getDefinedToolMetadata,
  getToolContext,
  getToolIdempotencyKey,
  nextToolSeq,
  runWithToolContext,
} from "toolwright";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createWorld, never, until } from "../semantics/harness.ts";

function createWholeFoods() {
  const orders: { sku: string; idempotencyKey: string | null }[] = [];
  return {
    orders,
    wholeFoods: {
      async placeOrder(order: { sku: string; idempotencyKey: string | null }) {
        const known = orders.findIndex(({ idempotencyKey }) => idempotencyKey === order.idempotencyKey);
        if (known < 0) orders.push(order);
        return { orderId: `order-${known < 0 ? orders.length : known + 1}` };
      },
    },
  };
}

describe("defineTool", () => {
  it("the grocery order of the reference page", async () => {
    const world = await createWorld();
    const { wholeFoods, orders } = createWholeFoods();
    const placeOrder = defineTool({
      name: "wholefoods.place_order",
      description: "Place a grocery order",
      schema: z.object({ sku: z.string() }),
      sideEffect: true,
      idempotent: false,
      async execute(args, ctx) {
        return wholeFoods.placeOrder({
          sku: args.sku,
          idempotencyKey: ctx.idempotencyKey,
        });
      },
    });

    const first = await (await world.runtime()).call(placeOrder, { sku: "apple" }, { runId: "monday" });
    const second = await (await world.runtime()).call(placeOrder, { sku: "pear" }, { runId: "monday" });
    const resumed = await (await world.runtime()).call(placeOrder, { sku: "apple" }, { runId: "monday" });
    const retried = await (
      await world.runtime()
    ).call(placeOrder, { sku: "apple" }, { runId: "monday", attempt: 2 });
    expect([first, second, resumed, retried]).toMatchObject([
      { output: { orderId: "order-1" } },
      { output: { orderId: "order-2" } },
      { output: { orderId: "order-1" }, replayed: true },
      { output: { orderId: "order-1" }, replayed: true },
    ]);
    expect(orders.map(({ sku }) => sku)).toEqual(["apple", "pear"]);
    expect(new Set(orders.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
    expect((await world.log("monday")).map((row) => [row["toolName"], row["status"]])).toEqual([
      ["wholefoods.place_order", "success"],
      ["wholefoods.place_order", "success"],
      ["wholefoods.place_order", "success"],
    ]);
  });

  it("ctx.idempotencyKey is stable across retries and resumes of one task iteration", async () => {
    const world = await createWorld();
    const keys: (string | null)[] = [];
    const tool = defineTool({
      name: "keyed",
      schema: z.object({}),
      sideEffect: true,
      idempotent: true,
      execute: (_args, ctx) => (keys.push(ctx.idempotencyKey) === 1 ? never<number>() : 1),
    });
    void (await world.runtime()).call(tool, {}, { runId: "r" });
    await until(() => keys.length === 1);
    await world.killAll();
    await (await world.runtime()).call(tool, {}, { runId: "r" });
    await (await world.runtime()).call(tool, {}, { runId: "r", attempt: 2 });
    await (await world.runtime()).call(tool, {}, { runId: "r", iteration: 1 });
    expect(keys[0]).toEqual(expect.any(String));
    expect(keys.slice(1, 3)).toEqual([keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  it("the e-mail without ctx warns once, the e-mail with ctx does not", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const mailer = { send: async (_mail: object) => undefined };
    const bad = () =>
      defineTool({
        name: "email.send.bad",
        schema: z.object({ to: z.string(), body: z.string() }),
        sideEffect: true,
        idempotent: false,
        async execute(args) {
          await mailer.send(args);
        },
      });
    bad();
    bad();
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]?.[0]).toContain("email.send.bad");
    defineTool({
      name: "email.send",
      schema: z.object({ to: z.string(), body: z.string() }),
      sideEffect: true,
      idempotent: false,
      async execute(args, ctx) {
        await mailer.send({ ...args, idempotencyKey: ctx.idempotencyKey });
      },
    });
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it("a default parameter defeats that check, so the runtime notices at run time", async () => {
    const world = await createWorld();
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const tool = defineTool({
      name: "email.careless",
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      execute: (_args, _ctx) => "sent",
    });
    const runtime = await world.runtime();
    const events: string[] = [];
    runtime.subscribe(({ type }) => events.push(type));
    await runtime.call(tool, {}, { runId: "r" });
    await runtime.call(tool, {}, { runId: "r" });
    expect(events.filter((type) => type === "key-unread")).toHaveLength(2);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]?.[0]).toContain("email.careless");
    warn.mockRestore();
  });

  it("ctx has every field of the reference page", async () => {
    const world = await createWorld();
    const seen: Record<string, unknown>[] = [];
    const tool = defineTool({
      name: "looks",
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      async execute(_args, ctx) {
        seen.push({ ...ctx });
        return ctx.durabilitySnapshot("looks", "use-1");
      },
    });
    const runtime = await world.runtime({
      rootDir: ".",
      maxOutputBytes: 500_000,
      toolTimeoutMs: 120_000,
      allowNetwork: true,
    });
    await runtime.call(tool, {}, { runId: "r", nodeId: "n", iteration: 2, attempt: 3 });
    expect(seen[0]).toMatchObject({
      idempotencyKey: expect.any(String),
      toolName: "looks",
      sideEffect: true,
      idempotent: false,
      runId: "r",
      nodeId: "n",
      iteration: 2,
      attempt: 3,
      seq: 1,
      rootDir: process.cwd(),
      allowNetwork: true,
      maxOutputBytes: 500_000,
      timeoutMs: 120_000,
    });
  });
});

describe("getDefinedToolMetadata", () => {
  it("reads name, sideEffect and idempotent; null for plain tools and for values that are not objects", () => {
    const write = defineTool({
      name: "write",
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      execute: (_args, _ctx) => "ok",
    });
    expect(getDefinedToolMetadata(write)).toEqual({ name: "write", sideEffect: true, idempotent: false });
    expect((write as unknown as Record<symbol, unknown>)[Symbol.for("smithers.tool.metadata")]).toEqual({
      name: "write",
      sideEffect: true,
      idempotent: false,
    });
    for (const value of [{ description: "plain", execute: () => 1 }, null, undefined, 5, "write", () => 1]) {
      expect(getDefinedToolMetadata(value)).toBeNull();
    }
  });
});

describe("the lower-level helpers", () => {
  it("getToolContext, runWithToolContext, getToolIdempotencyKey and nextToolSeq", () => {
    const ctx = { runId: "r", idempotencyKey: "k" };
    expect(getToolContext()).toBeUndefined();
    expect(runWithToolContext(ctx, () => getToolContext())).toBe(ctx);
    expect(runWithToolContext(ctx, () => getToolIdempotencyKey())).toBe("k");
    expect(getToolIdempotencyKey(ctx)).toBe("k");
    expect(getToolIdempotencyKey()).toBeNull();
    expect([nextToolSeq(ctx), nextToolSeq(ctx)]).toEqual([1, 2]);
  });
});
