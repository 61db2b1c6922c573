/**
 * The JSON Schema of a tool for models and other programs. In input mode: a field with a default is not required. A type
 * that JSON Schema cannot express is an error at definition time, with the field's name and a replacement.
 */
import { z } from "zod";
import { ToolwrightError } from "../errors.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

const REPLACEMENTS: Readonly<Record<string, string>> = {
  date: "Use z.iso.datetime(), or z.coerce.date(), which becomes a date-time string.",
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
  const converted = convertWhole(schema, lost, tool);
  const [first] = lost.values();
  if (first !== undefined) throw unrepresentable(first, tool);
  return converted;
}

/** Zod itself fails on some schemas, for example if two share an id or a default throws. */
function convertWhole(schema: z.ZodType, lost: Map<string, Lost>, tool: string): JsonSchema {
  try {
    return convert(schema, "input", lost);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ToolwrightError(
      "TOOL_SCHEMA_UNREPRESENTABLE",
      `Tool "${tool}": its schema cannot be converted to JSON Schema: ${reason}`,
      { details: { tool, field: "schema" }, cause },
    );
  }
}

/** Types that JSON Schema cannot express accept anything: outputs are stored as they are, so nothing is lost. */
export function toOutputJsonSchema(schema: z.ZodType): JsonSchema {
  try {
    return convert(schema, "output", new Map());
  } catch {
    // One bad output schema must not keep the other tools from being listed.
    return {};
  }
}

interface Lost {
  readonly type: string;
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** @param lost collects the types that cannot be expressed, by path */
function convert(schema: z.ZodType, io: "input" | "output", lost: Map<string, Lost>): JsonSchema {
  const described = new Set<string>();
  const lose = (path: string, found: Lost): void => {
    if (!described.has(path) && !lost.has(path)) lost.set(path, found);
  };
  const converted = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    unrepresentable: ({ zodSchema, path, message }) => {
      const { type, coerce } = zodSchema._zod.def as { type: string; coerce?: boolean };
      if (type === "date" && (coerce === true || io === "output"))
        return { type: "string", format: "date-time" };
      const pathText = JSON.stringify(path);
      // `.meta()` copies a schema. The copy comes first, and its metadata may define the JSON Schema type.
      if (hasJsonType(zodSchema)) described.add(pathText);
      lose(pathText, { type, path: [...path], message });
      return {};
    },
    override: ({ zodSchema, jsonSchema, path }) => {
      const { def } = zodSchema._zod;
      // Zod converts a file to a string, which the schema does not accept.
      if (def.type === "file") lose(JSON.stringify(path), { type: "file", path: [...path], message: "" });
      if (def.type === "string") dropFlaggedPatterns(zodSchema, jsonSchema);
      const hasDefault = def.type === "default" || def.type === "prefault";
      if (hasDefault && isComputed(jsonSchema.default, () => def.defaultValue)) delete jsonSchema.default;
    },
  });
  const { $schema: _dialect, "~standard": _standard, ...rest } = converted as Record<string, unknown>;
  return withoutRootRef(rest);
}

/** Patterns in JSON Schema have no flags: without them, the pattern would refuse input that the tool accepts. */
function dropFlaggedPatterns(schema: z.core.$ZodType, json: z.core.JSONSchema.BaseSchema): void {
  const { checks = [] } = schema._zod.def;
  const patterns = checks.map(({ _zod }) => (_zod.def as { pattern?: RegExp }).pattern);
  const wrong = new Set(
    patterns.flatMap((pattern) =>
      pattern !== undefined && /[ims]/.test(pattern.flags) ? [pattern.source] : [],
    ),
  );
  if (wrong.size === 0) return;
  const isWrong = ({ pattern }: { pattern?: string | undefined }): boolean => wrong.has(pattern ?? "");
  if (isWrong(json)) delete json.pattern;
  if (json.allOf !== undefined) json.allOf = json.allOf.filter((part) => !isWrong(part));
  if (json.allOf?.length === 0) delete json.allOf;
}

/** Zod moves a schema with an id into `$defs` and refers to it. Providers accept no `$ref` at the top, so inline it. */
function withoutRootRef(schema: JsonSchema): JsonSchema {
  const { $ref, $defs, ...rest } = schema;
  if (typeof $ref !== "string" || !$ref.startsWith(DEFS)) return schema;
  const name = $ref.slice(DEFS.length).replaceAll("~1", "/").replaceAll("~0", "~");
  const { [name]: root, ...others } = $defs as Record<string, object>;
  const isUsed = JSON.stringify([root, others]).includes(JSON.stringify($ref));
  const left = isUsed ? { ...others, [name]: root } : others;
  return { ...root, ...rest, ...(Object.keys(left).length === 0 ? {} : { $defs: left }) };
}

const DEFS = "#/$defs/";

function hasJsonType(schema: z.core.$ZodType): boolean {
  const meta: object = z.globalRegistry.get(schema) ?? {};
  return ["type", "anyOf", "oneOf", "$ref", "enum", "const"].some((name) => name in meta);
}

function unrepresentable({ type, path, message }: Lost, tool: string): ToolwrightError {
  const names = path.filter((part, index) => path[index - 1] === "properties" || typeof part === "number");
  const where = names.length === 0 ? "schema" : `schema.${names.join(".")}`;
  const isNothing = where === "schema" && (type === "void" || type === "undefined");
  const replacement = isNothing
    ? "For a tool without arguments use z.object({})."
    : (REPLACEMENTS[type] ?? `${message}.`);
  return new ToolwrightError(
    "TOOL_SCHEMA_UNREPRESENTABLE",
    `Tool "${tool}": ${where} is a z.${type}(), which JSON Schema cannot express. ${replacement}`,
    { details: { tool, field: where, type }, hint: replacement },
  );
}

const MOMENT_MS = 60_000;

/**
 * Whether a default is computed each time, such as an id or the current time. In the JSON Schema it would change the tool's
 * contract in every process: approvals would be void, and stored responses would not be found.
 * @param shown the default in the JSON Schema
 */
function isComputed(shown: unknown, compute: () => unknown): boolean {
  return shown !== undefined && (JSON.stringify(compute()) !== JSON.stringify(shown) || isNow(shown));
}

/** Two times in the same millisecond are equal. */
function isNow(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some(isNow);
  const atMs = typeof value === "string" ? Date.parse(value) : value;
  return typeof atMs === "number" && Math.abs(atMs - Date.now()) < MOMENT_MS;
}
