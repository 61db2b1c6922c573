/** Rule 1: calls with different arguments are different calls, for all kinds of argument values. */
import { defineTool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld } from "./harness.ts";

const task = { runId: "r1" };

function createKeep() {
  const kept: unknown[] = [];
  const keep = defineTool({
    name: "keep",
    schema: z.object({ value: z.any() }),
    sideEffect: true,
    execute: ({ value }, ctx) => {
      kept.push(value);
      return { count: kept.length, key: ctx.idempotencyKey };
    },
  });
  return { keep, kept };
}

describe("calls whose arguments differ", () => {
  it.each<[string, unknown, unknown]>([
    ["in an error's message", new Error("a"), new Error("b")],
    [
      "in an error's code",
      Object.assign(new Error("a"), { code: 1 }),
      Object.assign(new Error("a"), { code: 2 }),
    ],
    // oxlint-disable-next-line no-sparse-arrays
    ["in a hole", [,], []],
    // oxlint-disable-next-line no-sparse-arrays
    ["in a hole that is not undefined", [1, , 3], [1, undefined, 3]],
    ["in an error and its fields", new Error("a"), { name: "Error", message: "a" }],
  ])("%s have their own results, in any order of repetition", async (_what, one, other) => {
    const world = await createWorld();
    const { keep, kept } = createKeep();
    const first = await world.runtime();
    const results = [
      await first.call(keep, { value: one }, task),
      await first.call(keep, { value: other }, task),
    ];
    expect(kept).toHaveLength(2);
    const second = await world.runtime();
    const again = [
      await second.call(keep, { value: other }, task),
      await second.call(keep, { value: one }, task),
    ];
    expect(again).toMatchObject(
      results.toReversed().map((result) => ({
        status: "success",
        replayed: true,
        key: result.key,
        output: result.status === "success" && result.output,
      })),
    );
    expect(kept).toHaveLength(2);
  });

  it("in an error do not share a cached answer", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const explain = defineTool({
      name: "explain",
      schema: z.object({ error: z.any() }),
      cache: true,
      execute: ({ error }) => `about ${(error as Error).message}`,
    });
    for (const message of ["a", "b"]) {
      expect(await runtime.call(explain, { error: new Error(message) }, task)).toMatchObject({
        output: `about ${message}`,
      });
    }
  });

  it("in a redacted error get their own results", async () => {
    const world = await createWorld();
    const keep = defineTool({
      name: "keep_hidden",
      schema: z.object({ value: z.any() }),
      sideEffect: true,
      redact: { input: ["value"] },
      execute: (_args, ctx) => ctx.idempotencyKey,
    });
    const runtime = await world.runtime();
    const results = [
      await runtime.call(keep, { value: new Error("a") }, task),
      await runtime.call(keep, { value: new Error("b") }, task),
    ];
    const other = await world.runtime();
    expect(await other.call(keep, { value: new Error("b") }, task)).toMatchObject({
      replayed: true,
      key: results[1]?.key,
    });
  });
});

describe("arguments that cannot be read", () => {
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  it.each<[string, () => unknown, string[]]>([
    [
      "a getter that throws",
      () => ({
        get inner(): never {
          throw new Error("no");
        },
      }),
      [],
    ],
    [
      "a getter that throws in a hidden field",
      () => ({
        get inner(): never {
          throw new Error("no");
        },
      }),
      ["value.inner"],
    ],
    ["a toJSON that throws", () => ({ toJSON: () => JSON.parse("{") as unknown }), []],
    ["a revoked proxy", revoked, []],
    ["a revoked proxy that is hidden", revoked, ["value"]],
  ])("are refused, and the refusal is logged: %s", async (_what, value, hidden) => {
    const world = await createWorld();
    const runtime = await world.runtime();
    let runs = 0;
    const tool = defineTool({
      name: "taker",
      schema: z.object({ value: z.any() }),
      sideEffect: true,
      ...(hidden.length === 0 ? {} : { redact: { input: hidden } }),
      execute: (_args, ctx) => `${(runs += 1)} ${ctx.idempotencyKey}`,
    });
    expect(await runtime.call(tool, { value: value() }, task)).toMatchObject({
      status: "error",
      error: { code: "TOOL_INPUT_INVALID", effect: "none" },
    });
    expect(runs).toBe(0);
    expect(await world.log("r1")).toMatchObject([{ status: "error", toolName: "taker" }]);
    // The run still works.
    expect(await runtime.call(tool, { value: 1 }, task)).toMatchObject({ status: "success" });
  });
});
