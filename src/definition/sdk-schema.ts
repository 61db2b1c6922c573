/**
 * A schema in the form that the AI SDK takes without being imported: it carries the JSON Schema and accepts every value,
 * so that our own pipeline validates, logs bad input and answers it in our words.
 */
import type { JsonSchema } from "./json-schema.ts";

const SDK_SCHEMA = Symbol.for("vercel.ai.schema");

/** The Standard Schema shape, typed for the values that the schema stands for. */
export interface SdkSchema<Value> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: Value };
    readonly types?: { readonly input: unknown; readonly output: Value } | undefined;
    readonly jsonSchema: {
      readonly input: (options?: unknown) => Record<string, unknown>;
      readonly output: (options?: unknown) => Record<string, unknown>;
    };
  };
  readonly jsonSchema: JsonSchema;
}

export function toSdkSchema<Value>(makeJsonSchema: () => JsonSchema): SdkSchema<Value> {
  let made: JsonSchema | undefined;
  const jsonSchema = (): JsonSchema => (made ??= makeJsonSchema());
  const schema = {
    [SDK_SCHEMA]: true,
    "~standard": {
      version: 1,
      vendor: "toolwright",
      validate: (value: unknown) => ({ value: value as Value }),
      jsonSchema: { input: () => ({ ...jsonSchema() }), output: () => ({ ...jsonSchema() }) },
    },
    get jsonSchema() {
      return jsonSchema();
    },
    validate: (value: unknown) => ({ success: true, value: value as Value }),
  } as const;
  return schema;
}
