/**
 * Converts schemas of other libraries. Their own checks and transforms still apply; models read the JSON Schema. A schema that
 * cannot be applied in full is refused: nothing stays unchecked.
 */
import { z } from "zod";
import { isZod } from "../../definition/check-tool-options.ts";
import type { JsonSchema } from "../../definition/json-schema.ts";
import { refuseTool } from "./foreign-tool.ts";

export interface ForeignSchema {
  readonly schema: z.ZodType;
  /** `undefined` if it can be created from the schema. */
  readonly jsonSchema: JsonSchema | undefined;
}

/** The result of a schema's own check. */
export type Checked =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly unknown[] | undefined;
}

type Check = (value: unknown) => Checked | PromiseLike<Checked>;

/**
 * Zod 4, an AI SDK schema (a lazy one too), a Standard Schema (Valibot, ArkType, Zod 3, …), or a plain JSON Schema.
 * @param shown the JSON Schema, for schemas that cannot be converted
 */
export function readSchema(
  found: unknown,
  tool: string,
  field = "schema",
  shown?: JsonSchema,
): ForeignSchema {
  if (found === undefined)
    return { schema: z.record(z.string(), z.unknown()), jsonSchema: shown ?? { type: "object" } };
  if (isZod(found)) return { schema: found as z.ZodType, jsonSchema: shown };
  if (isObject(found) && SDK_SCHEMA in found) return readSdkSchema(found, tool, field, shown);
  if (isObject(found) && "~standard" in found) return readStandardSchema(found, tool, field, shown);
  if (typeof found === "function")
    return readSchema(evaluate(found as () => unknown, tool, field), tool, field, shown);
  // `then` is also a keyword of JSON Schema.
  if (isObject(found) && typeof found["then"] === "function")
    return refuseSchema(tool, field, "is a promise. Await it first.");
  return readJsonSchema(found, tool, field);
}

/** @param check throws or returns issues if the value is invalid */
export function checkedBy(check: Check): z.ZodType {
  return z.unknown().transform(async (value, context) => {
    const checked = await check(value);
    if (checked.issues === undefined) return checked.value;
    for (const { message, path = [] } of checked.issues) {
      context.issues.push({ code: "custom", message, path: path.map(keyOf), input: value });
    }
    return z.NEVER;
  });
}

const SDK_SCHEMA = Symbol.for("vercel.ai.schema");

/** As in the AI SDK: the schema's own `validate` decides; without one, the JSON Schema does. */
function readSdkSchema(
  found: Fields,
  tool: string,
  field: string,
  shown: JsonSchema | undefined,
): ForeignSchema {
  const { validate } = found;
  const given = shown ?? found["jsonSchema"];
  if (isObject(given) && "then" in given) {
    return refuseSchema(
      tool,
      field,
      "has a JSON Schema that is a promise. Await it before you create the schema.",
    );
  }
  if (typeof validate !== "function") return readJsonSchema(given, tool, field);
  const jsonSchema = assertJsonSchema(given, tool, field);
  return { schema: checkedBy(async (value) => sdkResult(await validate.call(found, value))), jsonSchema };
}

function sdkResult(result: unknown): Checked {
  const { success, value, error } = isObject(result) ? result : {};
  if (success === true) return { value };
  return { issues: issuesIn(error) };
}

/** The issues of an error, or the error itself. */
function issuesIn(error: unknown): Issue[] {
  const { issues, cause, message } = isObject(error) ? error : {};
  const listed = [issues, cause, isObject(cause) ? cause["issues"] : undefined].find(Array.isArray);
  const read = ((listed ?? []) as unknown[]).filter(
    (issue): issue is Issue => isObject(issue) && typeof issue["message"] === "string",
  );
  if (read.length > 0) return read;
  return [{ message: typeof message === "string" && message !== "" ? message : "does not fit" }];
}

function readStandardSchema(
  found: Fields,
  tool: string,
  field: string,
  shown: JsonSchema | undefined,
): ForeignSchema {
  const standard = found["~standard"];
  const { validate, vendor } = isObject(standard) ? standard : {};
  if (typeof validate !== "function") {
    return refuseSchema(tool, field, 'has a "~standard" without a validate function.');
  }
  const jsonSchema = shown ?? convertStandard(found, standard as Fields);
  if (typeof jsonSchema === "string") {
    const reason = jsonSchema === "" ? "" : ` (${jsonSchema})`;
    return refuseSchema(
      tool,
      field,
      `is a ${nameOf(vendor, found)} schema, ${NO_JSON_SCHEMA}${reason}. ${wayOut(vendor)}`,
    );
  }
  return {
    schema: checkedBy(async (value) => (await validate.call(standard, value)) as Checked),
    jsonSchema,
  };
}

function nameOf(vendor: unknown, found: Fields): string {
  if (vendor === "zod" && "_def" in found) return "Zod 3";
  return typeof vendor === "string" ? vendor : "Standard Schema";
}

const NO_JSON_SCHEMA = "which cannot be shown to a model as JSON Schema";

function wayOut(vendor: unknown): string {
  const policy = "or pass the JSON Schema: fromTool(tool, { inputJsonSchema })";
  switch (vendor) {
    case "valibot":
      return `Wrap it with toStandardJsonSchema from @valibot/to-json-schema, ${policy}.`;
    case "zod":
      return `Use Zod 4, wrap it with the AI SDK's zodSchema, ${policy}.`;
    default:
      return `Use a schema that implements StandardJSONSchemaV1, ${policy}.`;
  }
}

/**
 * By the interface of Standard Schema, or by the older method of ArkType.
 * @returns a text with the reason, if it cannot be converted
 */
function convertStandard(found: Fields, standard: Fields): JsonSchema | string {
  let reason = "";
  const converter = standard["jsonSchema"];
  const input = isObject(converter) ? converter["input"] : undefined;
  const ways: (() => unknown)[] =
    typeof input === "function"
      ? TARGETS.map((options) => () => input.call(converter, options) as unknown)
      : [];
  const { toJsonSchema } = found;
  if (typeof toJsonSchema === "function") ways.push(() => toJsonSchema.call(found) as unknown);
  for (const convert of ways) {
    try {
      const made = convert();
      if (isObject(made)) return withoutDialect(made);
    } catch (error) {
      // Another target may work; if none does, the schema is refused.
      reason = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
    }
  }
  return reason;
}

/** The last option omits checks of Valibot that JSON Schema cannot express. They still run. */
const TARGETS = [
  { target: "draft-2020-12" },
  { target: "draft-07" },
  { target: "draft-2020-12", libraryOptions: { errorMode: "ignore" } },
];

function withoutDialect({ $schema: _dialect, ...rest }: Fields): JsonSchema {
  return rest;
}

function assertJsonSchema(found: unknown, tool: string, field: string): JsonSchema {
  if (isJsonSchema(found)) return found;
  return refuseSchema(
    tool,
    field,
    "is neither Zod 4 nor JSON Schema, nor a Standard Schema such as Valibot or ArkType.",
  );
}

function readJsonSchema(found: unknown, tool: string, field: string): ForeignSchema {
  const jsonSchema = assertJsonSchema(found, tool, field);
  try {
    return { schema: z.fromJSONSchema(jsonSchema), jsonSchema };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return refuseTool(tool, `its JSON Schema cannot be used: ${reason}.`, { field }, cause);
  }
}

/** JSON Schema is plain data: an object with methods is a schema of an unknown library. */
function isJsonSchema(found: unknown): found is JsonSchema {
  if (typeof found !== "object" || found === null || Array.isArray(found)) return false;
  const prototype: unknown = Object.getPrototypeOf(found);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isPlain && !Object.values(found).some((value) => typeof value === "function") && !("_def" in found);
}

function evaluate(make: () => unknown, tool: string, field: string): unknown {
  let made: unknown;
  try {
    made = make();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return refuseTool(tool, `its ${field} is a function that threw: ${reason}.`, { field }, cause);
  }
  return typeof made === "function" && !("~standard" in made)
    ? refuseSchema(tool, field, "is a function that returns a function.")
    : made;
}

function refuseSchema(tool: string, field: string, problem: string): never {
  return refuseTool(tool, `its ${field} ${problem}`, { field });
}

type Fields = Readonly<Record<PropertyKey, unknown>>;

/** ArkType's schemas are functions. */
function isObject(value: unknown): value is Fields {
  return (typeof value === "object" || typeof value === "function") && value !== null;
}

/** Valibot and others describe a step of a path as an object with its key. */
function keyOf(step: unknown): PropertyKey {
  const key = typeof step === "object" && step !== null && "key" in step ? step.key : step;
  return typeof key === "number" || typeof key === "symbol" ? key : String(key);
}
