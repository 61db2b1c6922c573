/** A schema for OpenAI's strict mode: every object is closed, and every field of it is required. */
import { ToolwrightError } from "../../errors.ts";

type Schema = Readonly<Record<string, unknown>>;

/** @throws TOOL_DEFINITION_INVALID that names the first field that strict mode cannot express */
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
  const made = Object.fromEntries(fields) as Record<string, unknown>;
  return made["type"] === "object" ? closed(tool, made, path) : made;
}

/** Values, and not schemas. */
const LITERAL: ReadonlySet<string> = new Set(["enum", "const", "default", "examples", "required"]);

function closed(tool: string, schema: Schema, path: string): Schema {
  const properties = Object.keys((schema["properties"] as object | undefined) ?? {});
  const required = new Set((schema["required"] as readonly string[] | undefined) ?? []);
  const optional = properties.find((name) => !required.has(name));
  if (optional !== undefined) {
    throw refused(
      tool,
      `${path}${optional} is optional. Make it required, and nullable where it may be left out`,
    );
  }
  const more = schema["additionalProperties"];
  const takesAny = more === true || (typeof more === "object" && more !== null);
  if (takesAny) {
    throw refused(tool, `${path === "" ? "the input" : path.slice(0, -1)} takes any field. Name its fields`);
  }
  return { ...schema, additionalProperties: false };
}

function refused(tool: string, problem: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_DEFINITION_INVALID",
    `Tool "${tool}" cannot be offered with strict: true: ${problem}, or leave strict out.`,
    { details: { tool, field: "strict" } },
  );
}
