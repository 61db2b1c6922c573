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
  readonly message: string;
}

/** @param lost is filled with what cannot be expressed, by place */
function convert(schema: z.ZodType, io: "input" | "output", lost: Map<string, Lost>): JsonSchema {
  const told = new Set<string>();
  const converted = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    unrepresentable: ({ zodSchema, path, message }) => {
      const { type, coerce } = zodSchema._zod.def as { type: string; coerce?: boolean };
      if (type === "date" && (coerce === true || io === "output"))
        return { type: "string", format: "date-time" };
      const place = JSON.stringify(path);
      // A schema is copied when it is given metadata. The copy comes first, and may say what the original cannot.
      if (saysItsType(zodSchema)) told.add(place);
      if (!told.has(place) && !lost.has(place)) lost.set(place, { type, path: [...path], message });
      return {};
    },
  });
  const { $schema: _dialect, "~standard": _standard, ...rest } = converted as Record<string, unknown>;
  return rest;
}

function saysItsType(schema: z.core.$ZodType): boolean {
  const meta: object = z.globalRegistry.get(schema) ?? {};
  return ["type", "anyOf", "oneOf", "$ref", "enum", "const"].some((name) => name in meta);
}

function unrepresentable({ type, path, message }: Lost, tool: string): ToolwrightError {
  const names = path.filter((part, index) => path[index - 1] === "properties" || typeof part === "number");
  const where = names.length === 0 ? "schema" : `schema.${names.join(".")}`;
  const wayOut = WAYS_OUT[type] ?? `${message}.`;
  return new ToolwrightError(
    "TOOL_SCHEMA_UNREPRESENTABLE",
    `Tool "${tool}": ${where} is a z.${type}(), which JSON Schema cannot express. ${wayOut}`,
    { details: { tool, field: where, type }, hint: wayOut },
  );
}
