/** The contract of a tool, stored with a request: any process can check a decision against it without having the tool. */
import { z } from "zod";
import { describeIssues } from "../../definition/describe-issues.ts";
import { toOutputJsonSchema, type JsonSchema } from "../../definition/json-schema.ts";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { digest } from "../../util/hash.ts";

const contractSchema = z.object({
  input: z.record(z.string(), z.unknown()),
  output: z.record(z.string(), z.unknown()).nullable(),
  /** JSON Schema cannot express it. Requests of version 0.1 lack this field. */
  mayReturnNothing: z.boolean().default(false),
  redactInput: z.array(z.string()),
  redactOutput: z.array(z.string()),
  /** About an interrupted call: a try of it was still running when the request was made. Older requests lack this field. */
  isAtWork: z.boolean().default(true),
});

export type Contract = z.output<typeof contractSchema>;

interface AboutInterrupted {
  /** An answer "it happened" needs no output. */
  readonly isOutputKnown?: boolean | undefined;
  /** A try of the call is still running. */
  readonly isAtWork?: boolean | undefined;
}

export function encodeContract(
  spec: ToolSpec,
  { isOutputKnown = false, isAtWork }: AboutInterrupted = {},
): string {
  const { outputSchema, inputJsonSchema, redactInput, redactOutput } = spec;
  const output: JsonSchema | null = outputSchema === undefined ? null : toOutputJsonSchema(outputSchema);
  const mayReturnNothing = isOutputKnown || (outputSchema !== undefined && acceptsNothing(outputSchema));
  return JSON.stringify({
    input: inputJsonSchema,
    output,
    mayReturnNothing,
    redactInput,
    redactOutput,
    isAtWork,
  });
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

/** The validation errors as text; `undefined` if the value is valid, or if Zod cannot read the schema. */
export function problemsWith(schema: JsonSchema, value: unknown, whole: string): string | undefined {
  const readable = inZod(schema);
  if (readable === undefined) return undefined;
  const parsed = readable.safeParse(value);
  return parsed.success ? undefined : describeIssues(parsed.error, whole);
}

/** Zod reads only a part of JSON Schema, and tools of other SDKs may use the rest. The call itself validates in any case. */
function inZod(schema: JsonSchema): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema);
  } catch {
    return undefined;
  }
}

/** Changes with the tool's contract: an approval of the old contract does not count for the new one. */
export function fingerprintOf(spec: ToolSpec): string {
  return digest([
    spec.name,
    JSON.stringify(spec.inputJsonSchema),
    String(spec.sideEffect),
    String(spec.idempotent),
  ]);
}
