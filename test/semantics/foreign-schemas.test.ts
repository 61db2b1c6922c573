/** The checks and transforms of third-party schemas apply; unusable schemas are refused by name. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { jsonSchema, tool as sdkTool, zodSchema } from "ai";
import { type } from "arktype";
import { createRuntime, fromTool, type ToolLike } from "toolwright";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import * as z3 from "zod/v3";

interface Tried {
  readonly status: string;
  readonly seen: unknown[];
  readonly message: string;
}

/** Calls a tool with this schema, and returns the input that reached it. */
async function tryWith(inputSchema: unknown, args: unknown, more: object = {}): Promise<Tried> {
  const seen: unknown[] = [];
  const execute = (input: unknown): string => String(seen.push(input));
  return tryTool({ name: "book", description: "Books", inputSchema, execute, ...more }, args, seen);
}

async function tryTool(tool: ToolLike, args: unknown, seen: unknown[]): Promise<Tried> {
  await using runtime = createRuntime({ store: ":memory:" });
  const outcome = await runtime.call(fromTool(tool), args, { runId: "r" });
  return { status: outcome.status, seen, message: outcome.status === "error" ? outcome.error.message : "" };
}

const days = { type: "object", properties: { from: { type: "number" }, to: { type: "number" } } } as const;
const zodDays = z.object({ from: z.number(), to: z.number() });
const refined = zodDays.refine(({ from, to }) => from < to, {
  message: "ends before it begins",
  path: ["to"],
});
const transformed = zodDays.transform(({ from, to }) => ({ nights: to - from }));
const refusal = { success: false as const, error: new Error("fully booked") };
const lateSchema = () => zodSchema(refined);

const valibotDays = v.pipe(
  v.object({ from: v.number(), to: v.number() }),
  v.forward(
    v.check(({ from, to }) => from < to, "ends before it begins"),
    ["to"],
  ),
);
const arkDays = type({ from: "number", to: "number" }).narrow(
  ({ from, to }, ctx) => from < to || ctx.reject("an end after the beginning"),
);
const z3Days = z3.z
  .object({ from: z3.z.number(), to: z3.z.number() })
  .refine(({ from, to }) => from < to, { message: "ends before it begins", path: ["to"] });

describe("a schema's own checks apply", () => {
  test.each<[string, unknown, object?]>([
    ["Zod 4 with refine", refined],
    ["the AI SDK's zodSchema with refine", zodSchema(refined)],
    ["a lazy schema", lateSchema],
    ["zodSchema with Zod 3", zodSchema(z3Days)],
    ["Valibot with JSON Schema", toStandardJsonSchema(valibotDays)],
    ["Valibot and a JSON Schema alongside it", valibotDays, { policy: { inputJsonSchema: days } }],
    ["Zod 3 and a JSON Schema alongside it", z3Days, { policy: { inputJsonSchema: days } }],
    ["ArkType", arkDays],
  ])("%s", async (_name, schema, { policy = {} }: { policy?: object } = {}) => {
    const seen: unknown[] = [];
    const tool = fromTool(
      { name: "book", inputSchema: schema, execute: (input: unknown) => seen.push(input) },
      policy,
    );
    await using runtime = createRuntime({ store: ":memory:" });
    expect(await runtime.call(tool, { from: 1, to: 3 }, { runId: "r" })).toMatchObject({ status: "success" });
    const refused = await runtime.call(tool, { from: 3, to: 1 }, { runId: "r" });
    expect(refused).toMatchObject({ error: { code: "TOOL_INPUT_INVALID" } });
    expect(JSON.stringify(refused)).toMatch(/to|ends before|after the beginning/);
    expect(await runtime.call(tool, { from: "x" }, { runId: "r" })).toMatchObject({
      error: { code: "TOOL_INPUT_INVALID" },
    });
    expect(seen).toEqual([{ from: 1, to: 3 }]);
  });

  test("validate of jsonSchema refuses with its own message, and the tool gets the value it returns", async () => {
    const refusing = await tryWith(jsonSchema(days, { validate: () => refusal }), { from: 1, to: 2 });
    expect(refusing).toMatchObject({ status: "error", seen: [] });
    expect(refusing.message).toContain("fully booked");
    const changing = jsonSchema(days, { validate: async () => ({ success: true, value: "other" }) });
    expect(await tryWith(changing, { from: 1, to: 2 })).toMatchObject({ seen: ["other"] });
  });

  test("jsonSchema without validate is checked by its JSON Schema", async () => {
    expect(await tryWith(jsonSchema(days), { from: "x" })).toMatchObject({ status: "error", seen: [] });
    expect(await tryWith(jsonSchema(days), { from: 1 })).toMatchObject({ seen: [{ from: 1 }] });
  });

  test("a transform runs once", async () => {
    for (const schema of [transformed, zodSchema(transformed), () => zodSchema(transformed)]) {
      expect(await tryWith(schema, { from: 1, to: 3 })).toMatchObject({ seen: [{ nights: 2 }] });
    }
  });

  test("an AI SDK tool with a Valibot schema shows its JSON Schema", () => {
    const book = sdkTool({
      inputSchema: toStandardJsonSchema(v.object({ from: v.number() })),
      execute: async () => 1,
    });
    const made = fromTool(book, { name: "book" });
    expect(made.inputSchema.jsonSchema).toMatchObject({ properties: { from: { type: "number" } } });
  });

  test("ArkType brings its own JSON Schema", async () => {
    const made = fromTool({ name: "book", inputSchema: type({ from: "number" }), execute: () => 1 });
    expect(made.inputSchema.jsonSchema).toMatchObject({ properties: { from: { type: "number" } } });
    expect(await tryWith(type({ from: "number" }), { from: "x" })).toMatchObject({ status: "error" });
  });

  test("parse of betaZodTool applies, with its transforms", async () => {
    const seen: unknown[] = [];
    const run = (input: unknown): string => String(seen.push(input));
    const checked = betaZodTool({ name: "book", description: "Books", inputSchema: refined, run });
    const bad = await tryTool(checked, { from: 3, to: 1 }, seen);
    expect(bad).toMatchObject({ status: "error", seen: [] });
    expect(bad.message).toContain("to: ends before it begins");
    const coerced = z.object({ from: z.number().default(7) });
    const filled = betaZodTool({ name: "book", description: "Books", inputSchema: coerced, run });
    expect(await tryTool(filled, {}, seen)).toMatchObject({ seen: [{ from: 7 }] });
  });

  test("betaTool, whose parse does nothing, is checked by its JSON Schema", async () => {
    const seen: unknown[] = [];
    const run = (input: unknown): string => String(seen.push(input));
    const inputSchema = { ...days, required: ["from"] } as const;
    const made = betaTool({ name: "book", description: "Books", inputSchema, run });
    expect(await tryTool(made, {}, seen)).toMatchObject({ status: "error", seen: [] });
    expect(await tryTool(made, { from: 1 }, seen)).toMatchObject({ seen: [{ from: 1 }] });
  });

  test("a third-party output schema applies too", async () => {
    for (const outputSchema of [valibotDays, zodSchema(refined), arkDays, z3Days]) {
      const bad = await tryWith(
        zodDays,
        { from: 3, to: 1 },
        { outputSchema, execute: (args: unknown) => args },
      );
      expect(bad.status).toBe("error");
      expect(bad.message).toContain("its output is invalid");
    }
  });
});

describe("a schema that cannot be used is refused by name", () => {
  test.each<[string, unknown, RegExp]>([
    ["raw Valibot", valibotDays, /valibot schema.*toStandardJsonSchema.*inputJsonSchema/],
    ["raw Zod 3", z3Days, /Zod 3 schema.*zodSchema.*inputJsonSchema/],
    ["a promise", Promise.resolve(days), /is a promise/],
    ["a promised JSON Schema", jsonSchema(Promise.resolve(days)), /JSON Schema that is a promise/],
    [
      "a lazy schema that throws",
      () => {
        throw new Error("no network");
      },
      /threw: no network/,
    ],
    ["a lazy schema of a lazy schema", () => () => days, /returns a function/],
    [
      "an object of an unknown library",
      { type: "object", validate: () => true },
      /neither Zod 4 nor JSON Schema/,
    ],
    ["an instance of an unknown class", new URL("https://example.com"), /neither Zod 4 nor JSON Schema/],
    ["a list", [days], /neither Zod 4 nor JSON Schema/],
    ["a text", "object", /neither Zod 4 nor JSON Schema/],
    ["an empty standard", { "~standard": {} }, /without a validate/],
  ])("%s", (_name, inputSchema, message) => {
    expect(() => fromTool({ name: "book", inputSchema, execute: () => 1 })).toThrow(message);
  });

  test("so is a tool that the provider runs", () => {
    const search = { type: "provider", id: "anthropic.web_search", args: {}, isProviderExecuted: true };
    expect(() => fromTool({ ...search, inputSchema: zodDays }, { name: "search" })).toThrow(
      /"anthropic.web_search" runs at the model's provider/,
    );
  });
});
