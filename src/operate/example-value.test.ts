/** Examples of payloads fit their schemas. */
import { expect, test } from "vitest";
import { z } from "zod";
import { exampleOf } from "./example-value.ts";

const schemas: Readonly<Record<string, z.ZodType>> = {
  "any value": z.unknown(),
  "an empty object": z.object({}),
  fields: z.object({ amount: z.number(), by: z.enum(["card", "cash"]), note: z.string().optional() }),
  bounds: z.object({
    n: z.number().gt(2.5),
    m: z.int().min(3),
    below: z.number().max(-1),
    s: z.string().min(4),
  }),
  "lists and nested fields": z.object({
    lines: z.array(z.object({ id: z.uuid() })).min(2),
    tags: z.array(z.string()),
  }),
  choices: z.union([z.object({ ok: z.literal(true) }), z.string()]),
  formats: z.object({ at: z.iso.datetime(), day: z.iso.date(), to: z.email(), where: z.url() }),
  defaults: z.object({ n: z.number().default(7), maybe: z.string().nullable() }),
  "a text": z.string(),
  "a flag": z.boolean(),
  nothing: z.null(),
};

test.each(Object.entries(schemas))("%s", (_name, schema) => {
  const example = exampleOf(z.toJSONSchema(schema, { io: "input" }));
  expect(schema.safeParse(example)).toMatchObject({ success: true });
});

test("a schema that never ends has an example that does", () => {
  const tree: Record<string, unknown> = { type: "object", required: ["child"] };
  tree["properties"] = { child: tree };
  expect(JSON.stringify(exampleOf(tree)).length).toBeLessThan(200);
});
