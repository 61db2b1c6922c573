/** Outputs are stored unchanged; an output that cannot be stored is an error that names the path. */
import { defineTool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld } from "./harness.ts";

const task = { runId: "r1" };

function returning(value: unknown) {
  return defineTool({ name: "maker", schema: z.object({}), execute: () => value });
}

class Money {
  readonly currency: string;
  readonly cents: number;
  constructor(currency: string, cents: number) {
    this.currency = currency;
    this.cents = cents;
  }
  get label(): string {
    return `${this.cents} ${this.currency}`;
  }
}

describe("values that can be stored", () => {
  it.each<[string, unknown, unknown?]>([
    ["undefined", undefined],
    ["null", null],
    ["0", 0],
    ["minus zero", -0],
    ["not a number", Number.NaN],
    ["an empty text", ""],
    ["false", false],
    ["a big number", 12_345_678_901_234_567_890n],
    ["a date", new Date("2026-01-02T03:04:05.678Z")],
    [
      "a map",
      new Map<unknown, unknown>([
        ["a", new Date(1)],
        [2, new Set([1n])],
      ]),
    ],
    ["a set", new Set([1, "1", null])],
    ["bytes", new Uint8Array([0, 255])],
    ["a Buffer", { data: Buffer.from("abc") }],
    // oxlint-disable-next-line no-sparse-arrays
    ["a list with holes", [1, , undefined, ,]], // oxfmt-ignore
    ["a boxed primitive, as the primitive", { text: new String("a") }, { text: "a" }],
    ["an object that looks like a stored one", { $type: "date", value: "no date" }],
    ["an object that looks truncated", { truncated: true, bytes: 5, preview: "abc" }],
    ["a field called __proto__", JSON.parse('{"__proto__":{"polluted":true}}')],
    ["a class instance with data, as its data", new Money("EUR", 5), { currency: "EUR", cents: 5 }],
    ["a URL, as its text", new URL("https://example.com/a"), "https://example.com/a"],
    ["an Error, as name and message", new RangeError("far"), { name: "RangeError", message: "far" }],
  ])("%s", async (_what, value, kept = value) => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const tool = returning(value);
    const live = await runtime.call(tool, {}, task);
    if (live.status !== "success") throw live;
    expect(live.output).toStrictEqual(kept);
    const replayed = await (await world.runtime()).call(tool, {}, task);
    expect(replayed).toMatchObject({ status: "success", replayed: true });
    expect(replayed.status === "success" && replayed.output).toStrictEqual(kept);
    expect(await runtime.fullOutput(live.key ?? "")).toStrictEqual(kept);
    expect(await tool.execute({})).toStrictEqual(kept);
    expect(await world.dump()).not.toContain("[object");
    expect(
      JSON.stringify(tool.toModelOutput({ toolCallId: "t", input: {}, output: live.output })),
    ).not.toContain("[object");
  });
});

describe("values that cannot be stored", () => {
  const loop: Record<string, unknown> = {};
  loop["inner"] = { back: loop };
  it.each<[string, unknown, RegExp]>([
    ["a function", { callback: () => 1 }, /callback is a function/],
    ["a function as the whole", () => 1, /the value is a function/],
    ["a symbol", [Symbol("x")], /\[0\] is a symbol/],
    ["a circular reference", loop, /inner\.back refers back/],
    ["an instance without data", { pattern: /x/ }, /pattern is a RegExp/],
    ["a promise inside", { later: Promise.resolve(1) }, /later is a Promise/],
    ["a weak map", new WeakMap(), /the value is a WeakMap/],
    ["a stream of headers", new Headers({ a: "b" }), /Headers/],
  ])("%s is TOOL_OUTPUT_INVALID with its path, and counts as happened", async (_what, value, message) => {
    const world = await createWorld();
    const tool = returning(value);
    const outcome = await (await world.runtime()).call(tool, {}, task);
    expect(outcome).toMatchObject({
      status: "error",
      error: { code: "TOOL_OUTPUT_INVALID", message: expect.stringMatching(message) },
    });
    expect(await world.log("r1")).toMatchObject([{ status: "error", effect: "happened" }]);
    await expect(tool.execute({})).rejects.toMatchObject({ code: "TOOL_OUTPUT_INVALID" });
    expect(await world.dump()).not.toContain("[object");
  });
});

describe("values that throw when they are read", () => {
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const unreadable = {
    get field(): never {
      throw new TypeError("there is no field");
    },
  };
  it.each<[string, unknown, RegExp]>([
    ["a getter", { inner: unreadable }, /inner\.field cannot be read: there is no field/],
    ["toJSON", [{ toJSON: () => JSON.parse("{") as unknown }], /\[0\] cannot be read/],
    ["a revoked proxy", { inner: revoked() }, /inner cannot be read/],
  ])("%s: TOOL_OUTPUT_INVALID, and a resume does not run it again", async (_what, value, message) => {
    const world = await createWorld();
    let runs = 0;
    const tool = defineTool({
      name: "effect",
      schema: z.object({}),
      sideEffect: true,
      execute: (_args, ctx): unknown => {
        runs += ctx.idempotencyKey === null ? 0 : 1;
        return value;
      },
    });
    const expected = {
      status: "error",
      error: { code: "TOOL_OUTPUT_INVALID", message: expect.stringMatching(message) as unknown },
    };
    expect(await (await world.runtime()).call(tool, {}, task)).toMatchObject(expected);
    expect(await world.log("r1")).toMatchObject([{ status: "error", effect: "happened" }]);
    expect(await (await world.runtime()).call(tool, {}, task)).toMatchObject({ ...expected, replayed: true });
    expect(runs).toBe(1);
  });
});

describe("outputSchema", () => {
  it("parses: defaults and transforms apply, unknown fields are dropped, even on replay", async () => {
    const world = await createWorld();
    const tool = defineTool({
      name: "shaped",
      schema: z.object({}),
      outputSchema: z.object({
        id: z.string(),
        count: z.number().default(1),
        at: z.string().transform((text) => new Date(text)),
      }),
      execute: () => ({ id: "a", at: "2026-01-02T00:00:00.000Z", secret: "x" }),
    });
    const expected = { id: "a", count: 1, at: new Date("2026-01-02T00:00:00.000Z") };
    const live = await (await world.runtime()).call(tool, {}, task);
    expect(live.status === "success" && live.output).toStrictEqual(expected);
    const replayed = await (await world.runtime()).call(tool, {}, task);
    expect(replayed.status === "success" && replayed.output).toStrictEqual(expected);
  });

  it("reports every problem as one of the output", async () => {
    const world = await createWorld();
    const tool = defineTool({
      name: "shaped",
      schema: z.object({}),
      outputSchema: z
        .object({ id: z.string() })
        .refine(() => false, "has no owner")
        .refine(() => false, "has no date"),
      execute: () => ({ id: "a" }),
    });
    const outcome = await (await world.runtime()).call(tool, {}, task);
    if (outcome.status !== "error") throw new Error(outcome.status);
    expect(outcome.error.code).toBe("TOOL_OUTPUT_INVALID");
    expect(outcome.error.message).toContain("the output: has no owner");
    expect(outcome.error.message).toContain("the output: has no date");
    expect(outcome.error.message).not.toContain("the input");
  });

  it("that throws fails the call with an invalid output, and does not end the run", async () => {
    const world = await createWorld();
    const tool = defineTool({
      name: "shaped",
      schema: z.object({}),
      outputSchema: z.string().transform((text): string => {
        throw new Error(`cannot transform ${text}`);
      }),
      execute: () => "it",
    });
    const runtime = await world.runtime();
    const outcome = await runtime.call(tool, {}, task);
    expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_OUTPUT_INVALID" } });
    expect(await runtime.call(returning(1), {}, task)).toMatchObject({ output: 1 });
  });
});

describe("what a model receives", () => {
  it.each<[string, unknown, unknown]>([
    ["text as text", "hello", { type: "text", value: "hello" }],
    ["an empty text", "", { type: "text", value: "" }],
    ["an object as JSON", { a: [1] }, { type: "json", value: { a: [1] } }],
    ["undefined as null", undefined, { type: "json", value: null }],
    ["null", null, { type: "json", value: null }],
    ["0", 0, { type: "json", value: 0 }],
    ["false", false, { type: "json", value: false }],
  ])("%s", (_what, output, expected) => {
    expect(returning(1).toModelOutput({ toolCallId: "t", input: {}, output })).toEqual(expected);
  });
});
