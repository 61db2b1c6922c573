/** Unusual texts and times are stored unchanged on every store, or refused with a message; they never end a run. */
import { defineTool, type TaskIdentity } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld } from "./harness.ts";
import { createCharge } from "./tools.ts";

const task = { runId: "r1" };
const ODD = "a\u0000b\ud800c";

describe("ids", () => {
  it.each<[string, TaskIdentity]>([
    ["a run id with U+0000", { runId: "a\u0000" }],
    ["a run id with half a surrogate pair", { runId: "a\ud800" }],
    ["a run id of more than 512 bytes", { runId: "ä".repeat(257) }],
    ["a task id with U+0000", { runId: "r1", nodeId: "\u0000" }],
    ["a task id of more than 512 bytes", { runId: "r1", nodeId: "x".repeat(513) }],
    ["a loop path of more than 512 bytes", { runId: "r1", loopPath: Array<number>(300).fill(1) }],
    // Its text would equal the text of [1, 5, 0].
    ["a loop path with a fraction", { runId: "r1", loopPath: [1.5, 0] }],
    ["an attempt that no column holds", { runId: "r1", attempt: 2 ** 64 }],
    ["an iteration that no column holds", { runId: "r1", iteration: 2 ** 64 }],
  ])("%s is refused, and other calls still work", async (_what, identity) => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const runtime = await world.runtime();
    const call = runtime.call(charge, { amount: 1 }, identity);
    await expect(call).rejects.toMatchObject({ code: "TOOL_OPTION_INVALID" });
    await expect(runtime.run(identity, () => 1)).rejects.toMatchObject({ code: "TOOL_OPTION_INVALID" });
    expect(await runtime.call(charge, { amount: 1 }, task)).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(1);
  });

  it("of exactly 512 bytes each are stored, even if they do not compress", async () => {
    const world = await createWorld();
    const long = (): string => Array.from({ length: 128 }, () => randomAstral()).join("");
    const name = long();
    const tool = defineTool({
      name,
      schema: z.object({}),
      cache: true,
      retry: { circuitBreakerThreshold: 1 },
      maxExecutionsPerRun: 5,
      execute: () => 1,
    });
    const identity = { runId: long(), nodeId: long(), loopPath: Array<number>(256).fill(7) };
    const runtime = await world.runtime({ limits: { maxCostUsd: 1, maxParallelTools: 1 } });
    expect(await runtime.call(tool, {}, identity)).toMatchObject({ status: "success" });
    expect(await runtime.calls({ runId: identity.runId })).toMatchObject([{ toolName: name }]);
  });

  it.each([
    ["U+0000", "a\u0000"],
    ["half a surrogate pair", "a\ud800"],
    ["more than 512 bytes", "x".repeat(513)],
  ])("a tool's name with %s is refused", (_what, name) => {
    const define = (): unknown => defineTool({ name, schema: z.object({}), execute: () => 1 });
    expect(define).toThrow(expect.objectContaining({ code: "TOOL_DEFINITION_INVALID" }));
  });
});

/** Four bytes in UTF-8. */
function randomAstral(): string {
  return String.fromCodePoint(0x20000 + Math.floor(Math.random() * 0xa000));
}

describe("texts", () => {
  it("in arguments and outputs come back unchanged", async () => {
    const world = await createWorld();
    const echo = defineTool({
      name: "echo",
      schema: z.object({ text: z.string() }),
      execute: ({ text }) => ({ text, [text]: new Map([[text, text]]) }),
    });
    const live = await (await world.runtime()).call(echo, { text: ODD }, task);
    const replayed = await (await world.runtime()).call(echo, { text: ODD }, task);
    expect(live).toMatchObject({ status: "success", output: { text: ODD } });
    expect(replayed).toEqual({ ...live, replayed: true });
  });

  it("in errors are stored too", async () => {
    const world = await createWorld();
    const fail = defineTool({
      name: "fail",
      schema: z.object({}),
      execute: () => Promise.reject(new Error(ODD)),
    });
    expect(await (await world.runtime()).call(fail, {}, task)).toMatchObject({ status: "error" });
    expect(await world.log("r1")).toMatchObject([{ status: "error" }]);
  });

  it("in a tool call id, a prompt, a comment and a name never make the store fail", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true, approvalPrompt: () => `Pay ${ODD}?` });
    const runtime = await world.runtime();
    const call = () => runtime.call(charge, { amount: 1 }, { ...task, toolCallId: ODD, callKey: ODD });
    expect(await call()).toMatchObject({ status: "pending" });
    const [approval] = await runtime.approvals({ status: "pending" });
    expect(approval?.prompt).toBe("Pay a\ufffdb\ufffdc?");
    const decided = { approved: true, comment: ODD, decidedBy: ODD };
    expect(await runtime.resolveToolApproval(approval?.id ?? "", decided)).toMatchObject({
      comment: "a\ufffdb\ufffdc",
      decidedBy: "a\ufffdb\ufffdc",
    });
    expect(await call()).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(1);
  });

  it("the same tool call id finds the call that waits under it", async () => {
    const world = await createWorld();
    const { charge } = createCharge({ needsApproval: true });
    const options = { ...task, toolCallId: ODD };
    const first = await (await world.runtime()).call(charge, { amount: 1 }, options);
    const second = await (await world.runtime()).call(charge, { amount: 1 }, options);
    expect(second.key).toBe(first.key);
  });
});

describe("times", () => {
  it("are stored as whole milliseconds if a clock returns fractions", async () => {
    const world = await createWorld();
    const { charge } = createCharge({ needsApproval: true, approvalTtlMs: 1_000.5 });
    const clock = createClock(1_000_000.75);
    const runtime = await world.runtime({ clock });
    await runtime.call(charge, { amount: 1 }, task);
    const [approval] = await runtime.approvals();
    expect(approval).toMatchObject({ requestedAtMs: 1_000_000, expiresAtMs: 1_001_001 });
    await runtime.resolveToolApproval(approval?.id ?? "", { approved: true });
    await (await world.runtime({ clock })).call(charge, { amount: 1 }, task);
    expect(await runtime.calls()).toMatchObject([{ startedAtMs: 1_000_000, finishedAtMs: 1_000_000 }]);
  });

  it.each([1e300, Infinity])("that are %s ms ahead never come", async (ms) => {
    const world = await createWorld();
    const clock = createClock();
    const runtime = await world.runtime({ clock, approvalTtlMs: ms });
    const { charge } = createCharge({ needsApproval: true });
    let runs = 0;
    const look = defineTool({
      name: "look",
      schema: z.object({}),
      cache: { ttlMs: ms },
      retry: { circuitBreakerThreshold: 1, breaker: { scope: "shared", resetMs: ms } },
      execute: () => (runs += 1),
    });
    await runtime.call(charge, { amount: 1 }, task);
    await runtime.call(look, {}, { ...task, callKey: "first" });
    await clock.advance(1e12);
    expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
    expect(await runtime.call(look, {}, { ...task, callKey: "second" })).toMatchObject({ fromCache: true });
    expect(runs).toBe(1);
  });
});
