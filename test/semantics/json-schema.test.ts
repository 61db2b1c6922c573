/** The JSON Schema that models receive, and the types that it cannot express. */
import { defineTool, ToolwrightError } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";

function shown(schema: z.ZodType): unknown {
  return defineTool({ name: "tool", schema, execute: () => "done" }).inputSchema.jsonSchema;
}

function refused(schema: z.ZodType): ToolwrightError {
  try {
    shown(schema);
  } catch (error) {
    if (ToolwrightError.is(error)) return error;
    throw error;
  }
  throw new Error("it was taken");
}

describe("what is exported", () => {
  it("is the input schema: fields with a default or a transform have the form that the model sends", () => {
    const schema = z.object({
      text: z.string().min(1).describe("What to look for"),
      limit: z.int().default(10),
      tags: z.array(z.string()).optional(),
      size: z.string().transform(Number),
      at: z.coerce.date(),
    });
    expect(shown(schema)).toMatchObject({
      type: "object",
      required: ["text", "size", "at"],
      properties: {
        text: { type: "string", minLength: 1, description: "What to look for" },
        limit: { type: "integer", default: 10 },
        tags: { type: "array", items: { type: "string" } },
        size: { type: "string" },
        at: { type: "string", format: "date-time" },
      },
    });
  });

  it("keeps descriptions on z.coerce.date() and on nested fields", () => {
    expect(
      shown(
        z.object({
          when: z.coerce.date().describe("Start"),
          in: z.object({ a: z.string().describe("Deep") }),
        }),
      ),
    ).toMatchObject({
      properties: {
        when: { type: "string", format: "date-time", description: "Start" },
        in: { properties: { a: { description: "Deep" } } },
      },
    });
  });

  it("refers to $defs where a schema contains itself", () => {
    interface Tree {
      readonly name: string;
      readonly children: readonly Tree[];
    }
    const tree: z.ZodType<Tree> = z.object({
      name: z.string(),
      get children() {
        return z.array(tree);
      },
    });
    const exported = JSON.stringify(shown(z.object({ root: tree })));
    expect(exported).toContain('"$defs"');
    expect(exported).toContain('"$ref":"#/$defs/');
  });

  it("has no $schema, which a provider would refuse", () => {
    expect(shown(z.object({}))).not.toHaveProperty("$schema");
  });
});

describe("a type that it cannot express", () => {
  it.each<[string, z.ZodType, string]>([
    ["z.date()", z.date(), "z.iso.datetime()"],
    ["z.bigint()", z.bigint(), "z.int()"],
    ["z.map()", z.map(z.string(), z.string()), "z.record()"],
    ["z.set()", z.set(z.string()), "z.array()"],
    ["z.symbol()", z.symbol(), "z.enum()"],
    ["z.custom()", z.instanceof(URL), ".meta("],
    ["z.nan()", z.nan(), "z.number()"],
  ])("%s is refused with the tool, the field and a fix", (type, schema, wayOut) => {
    const error = refused(z.object({ field: schema }));
    expect(error.code).toBe("TOOL_SCHEMA_UNREPRESENTABLE");
    expect(error.message).toContain('Tool "tool": schema.field is a ');
    expect(error.message).toContain(type);
    expect(error.message).toContain(wayOut);
    expect(error.hint).toContain(wayOut);
    expect(error.details).toMatchObject({ tool: "tool", field: "schema.field" });
  });

  it.each<[string, z.ZodType]>([
    ["optional", z.date().optional()],
    ["nullable", z.date().nullable()],
    ["with a description", z.date().describe("When it starts")],
    ["with a title", z.date().meta({ title: "Start" })],
    ["with a default", z.date().default(new Date(0))],
    ["described and optional", z.date().describe("When").optional()],
    ["in a list", z.array(z.date())],
    ["in a described list", z.array(z.date().describe("each"))],
    ["in a union", z.union([z.string(), z.date()])],
    ["in a record", z.record(z.string(), z.date())],
    ["in a tuple", z.tuple([z.string(), z.date()])],
    ["before a transform", z.date().transform((date) => date.getTime())],
    ["in an intersection", z.intersection(z.object({ a: z.string() }), z.object({ b: z.date() }))],
    ["readonly", z.date().readonly()],
    ["behind z.lazy()", z.lazy(() => z.date())],
  ])("is found %s, and its field is named", (_where, schema) => {
    const error = refused(z.object({ ok: z.string(), start: schema }));
    expect(error.code).toBe("TOOL_SCHEMA_UNREPRESENTABLE");
    expect(error.message).toContain("schema.start");
    expect(error.message).toContain("z.coerce.date()");
  });

  it("is named with its full path where it is nested", () => {
    const schema = z.object({ filter: z.object({ range: z.object({ from: z.date() }) }) });
    expect(refused(schema).message).toContain("schema.filter.range.from is a z.date()");
  });

  it("with a default of its own kind is refused with the same message", () => {
    const error = refused(z.object({ id: z.bigint().default(1n) }));
    expect(error.code).toBe("TOOL_SCHEMA_UNREPRESENTABLE");
    expect(error.message).toContain("schema.id");
  });

  it("as the whole input is refused too", () => {
    expect(refused(z.date()).message).toContain('Tool "tool": schema is a z.date()');
  });

  it("is allowed in an output, and as the result of a transform", () => {
    expect(() =>
      defineTool({
        name: "tool",
        schema: z.object({ at: z.iso.datetime().transform((text) => new Date(text)) }),
        outputSchema: z.object({ at: z.date(), big: z.bigint() }),
        execute: ({ at }) => ({ at, big: 1n }),
      }),
    ).not.toThrow();
  });
});

describe("schemas that would change with every process, or make the tool unusable", () => {
  it.each([
    ["an id", z.string().default(() => crypto.randomUUID())],
    ["the present moment", z.coerce.date().default(() => new Date())],
    ["the present moment as a text", z.iso.datetime().default(() => new Date().toISOString())],
    ["the present moment as a number", z.number().default(() => Date.now())],
    ["an object with an id", z.object({ id: z.string() }).default(() => ({ id: crypto.randomUUID() }))],
    ["one that is parsed too", z.string().prefault(() => crypto.randomUUID())],
    [
      "one with a description",
      z
        .string()
        .default(() => crypto.randomUUID())
        .describe("An id"),
    ],
  ])("a default that changes each time is not shown, and the field is still optional: %s", (_what, field) => {
    const schema = shown(z.object({ field })) as { properties: { field: object }; required?: string[] };
    expect(schema.properties.field).not.toHaveProperty("default");
    expect(schema.required ?? []).toEqual([]);
  });

  it("a default that is the same each time is shown, dates included", () => {
    const at = new Date(0);
    expect(
      shown(z.object({ at: z.coerce.date().default(at), list: z.array(z.int()).default([1]) })),
    ).toMatchObject({ properties: { at: { default: at.toISOString() }, list: { default: [1] } } });
  });

  it("a pattern with flags, which JSON Schema does not support, is not shown; others are", () => {
    const code = z.string().regex(/^[a-z]+$/i);
    const schema = shown(z.object({ code, short: code.regex(/^.{3}$/), plain: z.string().regex(/^a/u) }));
    expect(schema).toMatchObject({
      properties: {
        code: { type: "string" },
        short: { allOf: [{ pattern: "^.{3}$" }] },
        plain: { pattern: "^a" },
      },
    });
    expect(JSON.stringify(schema)).not.toContain("[a-z]");
  });

  it("an object with an id is an object at the top", () => {
    const root = z.object({ q: z.string() }).meta({ id: "Asked" });
    expect(shown(root)).toEqual({
      type: "object",
      properties: { q: { type: "string" } },
      required: ["q"],
    });
    const tree = z.object({
      get next() {
        return tree.optional();
      },
    });
    expect(shown(tree.meta({ id: "Tree/of ~ trees" }))).toMatchObject({ type: "object" });
  });

  it.each([
    ["two schemas of one id", z.object({ a: z.string().meta({ id: "S" }), b: z.int().meta({ id: "S" }) })],
    [
      "a default that throws",
      z.object({
        a: z.string().default(() => {
          throw new Error("none");
        }),
      }),
    ],
  ])("%s: the error names the tool", (_what, schema) => {
    expect(refused(schema)).toMatchObject({
      code: "TOOL_SCHEMA_UNREPRESENTABLE",
      message: expect.stringContaining('Tool "tool"') as string,
    });
  });

  it("a file, which JSON cannot express, is refused", () => {
    expect(refused(z.object({ a: z.array(z.file()) })).message).toContain("z.file()");
  });
});
