import { expect, test } from "vitest";
import { z } from "zod";
import { toInputJsonSchema } from "./json-schema.ts";
import { fromObjectInput, toObjectSchema } from "./object-schema.ts";

const schemaOf = (schema: z.ZodType) => toInputJsonSchema(schema, "tool");

test("an object schema stays the same, with its properties and required fields", () => {
  const schema = schemaOf(z.object({ sku: z.string(), note: z.string().optional() }));
  expect(toObjectSchema(schema)).toMatchObject({ type: "object", required: ["sku"] });
  expect(fromObjectInput(schema, { sku: "a" })).toEqual({ sku: "a" });
  expect(toObjectSchema(schemaOf(z.record(z.string(), z.number())))).toMatchObject({
    type: "object",
    properties: {},
    required: [],
    additionalProperties: { type: "number" },
  });
});

test.each<[string, z.ZodType, unknown]>([
  ["a union", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), { b: "x" }],
  ["a text", z.string(), "x"],
  ["a list", z.array(z.number()), [1]],
])("%s is wrapped in a field, and unwrapped again", (_what, zod, value) => {
  const schema = schemaOf(zod);
  const offered = toObjectSchema(schema);
  expect(offered).toMatchObject({ type: "object", required: ["input"] });
  expect(Object.keys(offered.properties)).toEqual(["input"]);
  expect(fromObjectInput(schema, { input: value })).toEqual(value);
  expect(fromObjectInput(schema, value)).toEqual(value);
});

test("a reference to the root still resolves", () => {
  const tree: z.ZodType = z.union([z.string(), z.object({ children: z.array(z.lazy(() => tree)) })]);
  const offered = JSON.stringify(toObjectSchema(schemaOf(tree)));
  expect(offered).toContain('"$ref":"#/properties/input"');
  expect(offered).not.toContain('"$ref":"#"');
});
