/**
 * A schema in the form that the AI SDK accepts, without importing the SDK. It has the JSON Schema and validates values, so
 * that the SDK repairs invalid calls and refuses forged histories. It passes values on unchanged: our pipeline parses them.
 */
import type { JsonSchema } from "./json-schema.ts";

const SDK_SCHEMA = Symbol.for("vercel.ai.schema");

/** The Standard Schema shape, typed for the values that the schema stands for. */
export interface SdkSchema<Value> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
    ) => Promise<{ readonly value: Value } | { readonly issues: readonly { readonly message: string }[] }>;
    readonly types?: { readonly input: unknown; readonly output: Value } | undefined;
    readonly jsonSchema: {
      readonly input: (options?: unknown) => Record<string, unknown>;
      readonly output: (options?: unknown) => Record<string, unknown>;
    };
  };
  readonly jsonSchema: JsonSchema;
  readonly validate: (value: unknown) => Promise<SdkCheck<Value>>;
}

export type SdkCheck<Value> =
  | { readonly success: true; readonly value: Value }
  | { readonly success: false; readonly error: Error };

/** @param problemWith returns the validation error of a value, or `undefined` */
export function toSdkSchema<Value>(
  makeJsonSchema: () => JsonSchema,
  problemWith: (value: unknown) => Promise<Error | undefined>,
): SdkSchema<Value> {
  let cached: JsonSchema | undefined;
  const jsonSchema = (): JsonSchema => (cached ??= makeJsonSchema());
  const validate = async (value: unknown): Promise<SdkCheck<Value>> => {
    const error = await problemWith(value);
    return error === undefined ? { success: true, value: value as Value } : { success: false, error };
  };
  const schema = {
    [SDK_SCHEMA]: true,
    "~standard": {
      version: 1,
      vendor: "toolwright",
      validate: async (value: unknown) => {
        const checked = await validate(value);
        return checked.success ? { value: checked.value } : { issues: [{ message: checked.error.message }] };
      },
      jsonSchema: { input: () => ({ ...jsonSchema() }), output: () => ({ ...jsonSchema() }) },
    },
    get jsonSchema() {
      return jsonSchema();
    },
    validate,
  } as const;
  return schema;
}
