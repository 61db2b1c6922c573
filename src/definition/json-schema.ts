/**
 * The JSON Schema that models and other programs are shown. In input mode: a field with a default is not required.
 * A type that JSON Schema cannot express is an error at definition, with the field's name and a way out.
 */
import { z } from "zod";
import { ToolwrightError } from "../errors.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

const WAYS_OUT: Readonly<Record<string, string>> = {
  date: "Use z.iso.datetime(), or z.coerce.date(), which is shown as a date-time string.",
  bigint: "Use z.int(), or z.string() with a pattern and a transform.",
  map: "Use z.record().",
  set: "Use z.array().",
  undefined: "Make the field optional instead.",
  void: "Use z.null(), or leave the field out.",
  symbol: "Use z.enum().",
  function: "Pass data, not code.",
  nan: "Use z.number().",
  custom: "Use a built-in type with .refine(), or give it .meta({ type: … }).",
  promise: "Use the type that the promise resolves to.",
  file: "Use a path or a URL as z.string().",
};

/** @throws TOOL_SCHEMA_UNREPRESENTABLE */
export function toInputJsonSchema(schema: z.ZodType, tool: string): JsonSchema {
  const lost = new Map<string, Lost>();
  const converted = convert(schema, "input", lost);
  const [first] = lost.values();
  if (first !== undefined) throw unrepresentable(first, tool);
  return converted;
}

/** What cannot be expressed is left open: outputs are stored faithfully, whatever JSON Schema can say of them. */
export function toOutputJsonSchema(schema: z.ZodType): JsonSchema {
  return convert(schema, "output", new Map());
}

interface Lost {
  readonly type: string;
  readonly path: readonly (string | number)[];
}

function convert(schema: z.ZodType, io: "input" | "output", lost: Map<string, Lost>): JsonSchema {
  const converted = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema, path }) => {
      const { type, coerce } = zodSchema._zod.def as { type: string; coerce?: boolean };
      if (type === "date" && (coerce === true || io === "output")) {
        Object.assign(jsonSchema, { type: "string", format: "date-time" });
      }
      // A wrapper comes after what it wraps and may bring what was missing, as `.meta({ type })` does.
      const place = JSON.stringify(path);
      if (Object.keys(jsonSchema).length > 0) lost.delete(place);
      else if (WAYS_OUT[type] !== undefined) lost.set(place, { type, path: [...path] });
    },
  });
  const { $schema: _dialect, "~standard": _standard, ...rest } = converted as Record<string, unknown>;
  return rest;
}

function unrepresentable({ type, path }: Lost, tool: string): ToolwrightError {
  const names = path.filter((part, index) => path[index - 1] === "properties" || typeof part === "number");
  const where = names.length === 0 ? "schema" : `schema.${names.join(".")}`;
  return new ToolwrightError(
    "TOOL_SCHEMA_UNREPRESENTABLE",
    `Tool "${tool}": ${where} is a z.${type}(), which JSON Schema cannot express. ${WAYS_OUT[type]}`,
    { details: { tool, field: where, type }, hint: WAYS_OUT[type] },
  );
}
