/**
 * Parses the input before anything else looks at it, and the output before anybody gets it. Bad input is answered in
 * words that a model can act on; nothing was run, and no budget or breaker is touched.
 */
import type { z } from "zod";
import { ToolwrightError } from "../../errors.ts";
import { decode, encode, UnencodableError } from "../../util/encode.ts";
import type { Call } from "../call.ts";
import type { Result } from "../outcome.ts";
import type { Policy } from "../policy.ts";
import { refuse } from "../policy.ts";
import { holdsMark, markError, maskInput, unmask } from "../redact.ts";

export const validate: Policy = async (call, next) => {
  try {
    await prepareInput(call);
  } catch (error) {
    return refuse(asInputError(call, error));
  }
  const result = await next();
  return result.kind === "success" && result.fromCache !== true ? checkOutput(call, result.output) : result;
};

/** Parses the arguments that would be run: those a person approved where they were edited. */
export async function prepareInput(call: Call): Promise<unknown> {
  const { spec, args, editedArgsJson } = call;
  const sent = editedArgsJson === null ? args : unmask(decode(editedArgsJson), args);
  call.inputJson = encode(maskInput(spec, sent, call.host.store.secret));
  if (holdsMark(spec.redactInput.length === 0 ? call.inputJson : encode(args))) {
    if (editedArgsJson === null || spec.redactInput.length > 0) throw markError(spec.name, args);
  }
  const parsed = await parse(spec.schema, sent);
  if (!parsed.success) throw inputError(call, parsed.error);
  call.input = parsed.data;
  if (spec.logInput !== undefined) call.inputJson = encode(spec.logInput(parsed.data));
  return call.input;
}

type Parsed = { success: true; data: unknown } | { success: false; error: z.ZodError };

async function parse(schema: z.ZodType, value: unknown): Promise<Parsed> {
  try {
    return schema.safeParse(value);
  } catch (error) {
    // Zod refuses to parse synchronously where the schema has asynchronous refinements.
    if (error instanceof Error && error.constructor.name === "$ZodAsyncError")
      return schema.safeParseAsync(value);
    throw error;
  }
}

function inputError(call: Call, error: z.ZodError): ToolwrightError {
  const problems = error.issues.map(describeIssue);
  return new ToolwrightError(
    "TOOL_INPUT_INVALID",
    `Tool "${call.spec.name}" cannot take this input: ${problems.join("; ")}.`,
    {
      details: {
        tool: call.spec.name,
        issues: error.issues.map(({ path, message, code }) => ({ path: path.join("."), message, code })),
      },
      effect: "none",
    },
  );
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const where = issue.path.length === 0 ? "the input" : issue.path.join(".");
  return `${where}: ${issue.message.replace(/\.$/, "")}`;
}

function asInputError(call: Call, error: unknown): ToolwrightError {
  if (ToolwrightError.is(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ToolwrightError(
    "TOOL_INPUT_INVALID",
    `Tool "${call.spec.name}" cannot take this input: ${message}.`,
    {
      details: { tool: call.spec.name },
      effect: "none",
      cause: error,
    },
  );
}

/** The effect has happened, so a bad output is an error that no retry may answer. */
async function checkOutput(call: Call, output: unknown): Promise<Result> {
  const { spec } = call;
  const parsed: Parsed =
    spec.outputSchema === undefined
      ? { success: true, data: output }
      : await parse(spec.outputSchema, output);
  try {
    call.outputJson = encode(parsed.success ? parsed.data : output);
  } catch (error) {
    if (!(error instanceof UnencodableError)) throw error;
    return refuse(outputError(call, error.message));
  }
  if (!parsed.success) return refuse(outputError(call, parsed.error.issues.map(describeIssue).join("; ")));
  call.outputBytes = Buffer.byteLength(call.outputJson);
  // What a caller gets now is what a replay would give: the decoded stored form.
  return { kind: "success", output: decode(call.outputJson) };
}

function outputError(call: Call, problem: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_OUTPUT_INVALID",
    `Tool "${call.spec.name}" ran, but its output is not what it promises: ${problem.replace("the input", "the output")}.`,
    { details: { tool: call.spec.name }, effect: "happened" },
  );
}

/** For values that come from elsewhere than `execute`: a reconciliation, or a person who saw what happened. */
export async function parseOutput(call: Call, output: unknown): Promise<string> {
  const { outputSchema, name } = call.spec;
  const parsed: Parsed =
    outputSchema === undefined ? { success: true, data: output } : await parse(outputSchema, output);
  if (parsed.success) return encode(parsed.data);
  throw new ToolwrightError(
    "TOOL_OUTPUT_INVALID",
    `Tool "${name}": the given output does not fit: ${parsed.error.issues.map(describeIssue).join("; ")}.`,
    { details: { tool: name } },
  );
}
