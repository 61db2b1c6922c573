/**
 * Validates for the AI SDK: the input of a call, and the inputs and outputs in a history that a client sent. Invalid input is
 * logged and refused with our error here, since the SDK does not call the tool then.
 */
import { z } from "zod";
import { type JsonSchema, toInputJsonSchema, toOutputJsonSchema } from "../definition/json-schema.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import { problemsWith } from "../invoke/approvals/contract.ts";
import { callInContext, currentScope } from "../invoke/call-in-context.ts";
import { holdsMark } from "../invoke/redact.ts";
import { isRedactedInput } from "../invoke/storable.ts";
import { errorOf } from "./model-answer.ts";

export async function problemWithInput(spec: ToolSpec, value: unknown): Promise<Error | undefined> {
  const { error } = await parse(spec.schema, value);
  // In a replay the recorded outcome counts, and its arguments may be redacted.
  if (error === undefined || isRedactedInReplay(spec, value)) return undefined;
  // This call exists only to be refused: its schema accepts nothing, and its `execute` does nothing.
  const refusing: ToolSpec = { ...spec, schema: refuseWith(error.issues), execute: () => undefined };
  const outcome = await callInContext(refusing, value, { readByModel: true });
  return outcome.status === "success" ? undefined : forSdk(errorOf(spec, outcome), value);
}

function isRedactedInReplay(spec: ToolSpec, value: unknown): boolean {
  const scope = currentScope();
  // A fork replays the calls before its cut. Others with such arguments are refused by the pipeline.
  if (scope?.originId !== undefined && isRedactedInput(spec, value)) return true;
  const isReplay = scope?.host.replay !== undefined;
  return isReplay && (spec.digestInput !== undefined || holdsMark(JSON.stringify(value) ?? ""));
}

/** An output in a history was serialized as JSON, and the schema may have transformed it. */
export async function problemWithOutput(spec: ToolSpec, value: unknown): Promise<Error | undefined> {
  const { outputSchema } = spec;
  if (outputSchema === undefined) return undefined;
  const { error } = await parse(outputSchema, value);
  if (error === undefined) return undefined;
  const problem =
    problemAfterTransform(outputSchema, value) ?? error.issues.map(({ message }) => message).join("; ");
  if (problem === "") return undefined;
  return forSdk(
    new ToolwrightError("TOOL_OUTPUT_INVALID", `The output is not valid for "${spec.name}": ${problem}.`, {
      details: { tool: spec.name },
      hint: "The messages were changed, or are older than the output schema of the tool. Reject them, or remove this part.",
    }),
    value,
  );
}

/** `""` if the value is a transformed output; `undefined` if the schema transforms nothing. */
function problemAfterTransform(schema: z.ZodType, value: unknown): string | undefined {
  const made = toOutputJsonSchema(schema);
  if (shapeText(made) === shownAsInput(schema)) return undefined;
  return problemsWith(made, value, "the output") ?? "";
}

function shownAsInput(schema: z.ZodType): string | undefined {
  try {
    return shapeText(toInputJsonSchema(schema, "output"));
  } catch {
    // JSON Schema cannot express the input form, so it differs from the output form.
    return undefined;
  }
}

/** The output form has closed objects, which is not a transformation. */
function shapeText(schema: JsonSchema): string {
  return JSON.stringify(schema, (name, value: unknown) =>
    name === "additionalProperties" && value === false ? undefined : value,
  );
}

async function parse(
  schema: z.ZodType,
  value: unknown,
): Promise<{ readonly error: { readonly issues: readonly z.core.$ZodIssue[] } | undefined }> {
  try {
    return { error: (await schema.safeParseAsync(value)).error };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { error: { issues: [{ code: "custom", path: [], message, input: value }] } };
  }
}

function refuseWith(issues: readonly z.core.$ZodIssue[]): z.ZodType {
  return z.unknown().check((payload) => {
    for (const issue of issues) payload.issues.push({ ...issue, input: payload.value } as never);
  });
}

/** Marks the error as the SDK's own type, so that the SDK does not wrap it. */
function forSdk(error: ToolwrightError, value: unknown): Error {
  const text = JSON.stringify(error.toModel());
  return Object.defineProperties(error, {
    [Symbol.for("vercel.ai.error.AI_TypeValidationError")]: { value: true },
    [Symbol.for("vercel.ai.error")]: { value: true },
    value: { value },
    toString: { value: () => text },
  });
}
