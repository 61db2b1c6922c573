/** What a request says about its tool, so that any process can check a decision without having the tool. */
import { z } from "zod";
import { toOutputJsonSchema, type JsonSchema } from "../../definition/json-schema.ts";
import type { ToolSpec } from "../../definition/tool-spec.ts";

const contractSchema = z.object({
  input: z.record(z.string(), z.unknown()),
  output: z.record(z.string(), z.unknown()).nullable(),
  /** JSON Schema has no word for it. Requests of version 0.1 do not say. */
  mayReturnNothing: z.boolean().default(false),
  redactInput: z.array(z.string()),
  redactOutput: z.array(z.string()),
});

export type Contract = z.output<typeof contractSchema>;

export function encodeContract(spec: ToolSpec): string {
  const { outputSchema, inputJsonSchema, redactInput, redactOutput } = spec;
  const output: JsonSchema | null = outputSchema === undefined ? null : toOutputJsonSchema(outputSchema);
  const mayReturnNothing = outputSchema !== undefined && acceptsNothing(outputSchema);
  return JSON.stringify({ input: inputJsonSchema, output, mayReturnNothing, redactInput, redactOutput });
}

function acceptsNothing(schema: z.ZodType): boolean {
  try {
    return schema.safeParse(undefined).success;
  } catch {
    // An asynchronous schema: the call itself validates.
    return false;
  }
}

export function decodeContract(json: string): Contract {
  return contractSchema.parse(JSON.parse(json));
}

/** What does not fit, in words; `undefined` where it does, or where nobody can tell. */
export function problemsWith(schema: JsonSchema, value: unknown, whole: string): string | undefined {
  const readable = inZod(schema);
  if (readable === undefined) return undefined;
  const parsed = readable.safeParse(value);
  if (parsed.success) return undefined;
  return parsed.error.issues.map((issue) => `${issue.path.join(".") || whole}: ${issue.message}`).join("; ");
}

/** Zod reads a part of JSON Schema only; tools of other makers bring the rest. The call itself validates in any case. */
function inZod(schema: JsonSchema): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema);
  } catch {
    return undefined;
  }
}
