/** A runtime: its options, its disposal, and two runtimes on one store. */
import { createRuntime, defineTool, type RuntimeOptions } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld, settle, until } from "./harness.ts";
import { createCharge } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 1 };

describe("options", () => {
  it.each<[string, object]>([
    ["allowNetworks", { allowNetworks: true }],
    ["isolation", { isolation: "none" }],
    ["durability", { durability: "fast" }],
    ["maxOutputBytes", { maxOutputBytes: 0 }],
    ["maxOutputBytes", { maxOutputBytes: "1MB" }],
    ["maxOutputBytes", { maxOutputBytes: 10_485_761 }],
    ["toolTimeoutMs", { toolTimeoutMs: -1 }],
    ["toolTimeoutMs", { toolTimeoutMs: 3_600_001 }],
    ["approvalTtlMs", { approvalTtlMs: 0 }],
    ["limits.maxToolCalls", { limits: { maxToolCalls: -1 } }],
    ["limits.maxCostUsd", { limits: { maxCostUsd: Number.NaN } }],
    ["limits.maxParallelTools", { limits: { maxParallelTools: 0 } }],
    ["limits.maxCalls", { limits: { maxCalls: 1 } }],
    ["limits", { limits: 5 }],
    ["allowNetwork", { allowNetwork: "false" }],
    ["trustMessageApprovals", { trustMessageApprovals: "false" }],
    ["rootDir", { rootDir: 5 }],
    ["clock", { clock: {} }],
    ["capabilities", { capabilities: "all" }],
    ["store", { store: 5 }],
    ["store", { store: "" }],
  ])("%s is refused with a message: %j", (option, options) => {
    const name = option.split(".").at(-1);
    expect(() => createRuntime(options as RuntimeOptions)).toThrow(
      expect.objectContaining({
        code: "TOOL_OPTION_INVALID",
        message: expect.stringMatching(new RegExp(`^createRuntime: .*\\b${name}\\b`)),
        details: { option },
      }),
    );
  });

  it.each<[string, object]>([
    ["runId", { runId: "" }],
    ["nodeId", { runId: "r", nodeId: "" }],
    ["iteration", { runId: "r", iteration: -1 }],
    ["attempt", { runId: "r", attempt: 0 }],
    ["attempt", { runId: "r", attempt: 1.5 }],
  ])("of a call are refused with a message too: %s of %j", async (option, ids) => {
    const world = await createWorld();
    const runtime = await world.runtime();
    await expect(runtime.call(createCharge().charge, args, ids)).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
      message: expect.stringContaining(`runtime.call: ${option} must be `),
    });
    await expect(runtime.run(ids as { runId: string }, () => 1)).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
    });
  });

  it("an approvalPrompt that returns no text does not end the run", async () => {
    const world = await createWorld();
    const { charge } = createCharge({ needsApproval: true, approvalPrompt: (() => undefined) as never });
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({
      status: "pending",
      approval: { prompt: expect.stringContaining("charge") },
    });
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["an object", { id: 1 }],
    ["a promise", Promise.resolve("a")],
  ])(
    "an idempotencyKey function that returns %s instead of a text is refused, since all calls would share it",
    async (_what, key) => {
      const world = await createWorld();
      const { charge, effects } = createCharge({ idempotencyKey: (() => key) as never });
      const runtime = await world.runtime();
      expect(await runtime.call(charge, { amount: 1 }, task)).toMatchObject({
        status: "error",
        error: { message: expect.stringContaining("idempotencyKey") },
      });
      expect(effects).toEqual([]);
    },
  );
});

describe("disposal", () => {
  it("waits for a call in flight, and refuses later ones", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<undefined>();
    const { charge, effects } = createCharge({}, () => gate.promise);
    const runtime = await world.runtime();
    const call = runtime.call(charge, args, task);
    await until(() => effects.length === 1);
    let disposed = false;
    const disposal = runtime[Symbol.asyncDispose]().then(() => (disposed = true));
    await settle();
    expect(disposed).toBe(false);
    await expect(runtime.call(charge, args, task)).rejects.toMatchObject({ code: "TOOL_RUNTIME_CLOSED" });
    await expect(runtime.calls()).rejects.toMatchObject({ code: "TOOL_RUNTIME_CLOSED" });
    gate.resolve(undefined);
    await disposal;
    expect(await call).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(1);
  });

  it.each(["fresh", "warm"])("waits for a call that was made a moment before (%s)", async (state) => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const runtime = await world.runtime();
    if (state === "warm") await runtime.call(charge, args, { runId: "before" });
    const call = runtime.call(charge, args, task);
    const order: string[] = [];
    const ended = call.then((outcome) => {
      order.push("call");
      return outcome;
    });
    await runtime[Symbol.asyncDispose]();
    order.push("disposed");
    expect(await ended).toMatchObject({ status: "success" });
    expect(order).toEqual(["call", "disposed"]);
    expect(effects).toHaveLength(state === "warm" ? 2 : 1);
  });

  it.each(["fresh", "warm"])(
    "keeps its own store open for a call that was made a moment before (%s)",
    async (state) => {
      const { charge } = createCharge();
      const runtime = createRuntime({ store: ":memory:" });
      if (state === "warm") await runtime.call(charge, args, { runId: "before" });
      const call = runtime.call(charge, args, task);
      await runtime[Symbol.asyncDispose]();
      expect(await call).toMatchObject({ status: "success" });
    },
  );

  it("lets a call in flight finish its inner calls", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<undefined>();
    let entered = false;
    const runtime = await world.runtime();
    const inner = defineTool({ name: "inner", schema: z.object({}), execute: () => "inner" });
    const outer = defineTool({
      name: "outer",
      schema: z.object({}),
      async execute() {
        entered = true;
        await gate.promise;
        const outcome = await runtime.call(inner, {});
        return outcome.status === "success" ? outcome.output : outcome.status;
      },
    });
    const call = runtime.call(outer, {}, task);
    await until(() => entered);
    const disposal = runtime[Symbol.asyncDispose]();
    gate.resolve(undefined);
    await disposal;
    expect(await call).toMatchObject({ status: "success", output: "inner" });
  });

  it("may happen twice, and does not open an unused store", async () => {
    const runtime = createRuntime({ store: ":memory:" });
    await runtime[Symbol.asyncDispose]();
    await runtime[Symbol.asyncDispose]();
    await expect(runtime.ready()).rejects.toMatchObject({ code: "TOOL_RUNTIME_CLOSED" });
  });

  it("leaves a store open that was passed in", async () => {
    const world = await createWorld();
    const store = await world.open();
    const one = createRuntime({ store });
    const other = createRuntime({ store });
    const { charge, effects } = createCharge();
    await one.call(charge, args, task);
    await one[Symbol.asyncDispose]();
    expect(await other.call(charge, args, task)).toMatchObject({ status: "success", replayed: true });
    expect(await other.calls()).toHaveLength(1);
    expect(effects).toHaveLength(1);
  });
});

describe("two runtimes on one store", () => {
  it("see each other's calls, requests and decisions", async () => {
    const world = await createWorld();
    const [one, other] = [await world.runtime(), await world.runtime()];
    const { charge, effects } = createCharge({ needsApproval: true });
    const pending = await one.call(charge, args, { ...task, callKey: "k" });
    const [request] = await other.approvals({ status: "pending" });
    expect(pending).toMatchObject({ approval: { id: request?.id } });
    await other.resolveToolApproval(request?.id ?? "", { approved: true });
    expect(await one.call(charge, args, { ...task, callKey: "k" })).toMatchObject({ status: "success" });
    expect(await other.calls(task)).toMatchObject([{ status: "success" }]);
    expect(effects).toHaveLength(1);
  });
});
