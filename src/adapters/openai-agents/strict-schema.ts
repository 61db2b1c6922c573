/** Converts a schema for OpenAI's strict mode: every object is closed, and all of its fields are required. */
import { ToolwrightError } from "../../errors.ts";

type Schema = Readonly<Record<string, unknown>>;

/** @throws TOOL_DEFINITION_INVALID with the first field that strict mode cannot express */
export function toStrictSchema(tool: string, schema: Schema): Schema {
  return strict(tool, schema, "") as Schema;
}

function strict(tool: string, schema: unknown, path: string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => strict(tool, item, path));
  if (typeof schema !== "object" || schema === null) return schema;
  const fields = Object.entries(schema).map(([name, value]) => {
    const isNamed = name === "properties" || name === "$defs";
    if (!isNamed) return [name, LITERAL.has(name) ? value : strict(tool, value, path)];
    const parts = Object.entries(value as object).map(([field, part]) => [
      field,
      strict(tool, part, name === "$defs" ? path : `${path}${field}.`),
    ]);
    return [name, Object.fromEntries(parts) as unknown];
  });
  const converted = Object.fromEntries(fields) as Record<string, unknown>;
  return converted["type"] === "object" ? closed(tool, converted, path) : converted;
}

/** Keywords that contain values instead of schemas. */
const LITERAL: ReadonlySet<string> = new Set(["enum", "const", "default", "examples", "required"]);

function closed(tool: string, schema: Schema, path: string): Schema {
  const properties = Object.keys((schema["properties"] as object | undefined) ?? {});
  const required = new Set((schema["required"] as readonly string[] | undefined) ?? []);
  const optional = properties.find((name) => !required.has(name));
  if (optional !== undefined) {
    throw refused(
      tool,
      `field "${path}${optional}" is optional. Make it required, and nullable if it may be missing`,
    );
  }
  const more = schema["additionalProperties"];
  const acceptsAny = more === true || (typeof more === "object" && more !== null);
  if (acceptsAny) {
    throw refused(
      tool,
      `${path === "" ? "the input" : `field "${path.slice(0, -1)}"`} accepts any field. List its fields`,
    );
  }
  return { ...schema, additionalProperties: false };
}

function refused(tool: string, problem: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_DEFINITION_INVALID",
    `Tool "${tool}" cannot be used with strict: true: ${problem}, or omit strict.`,
    { details: { tool, field: "strict" } },
  );
}
