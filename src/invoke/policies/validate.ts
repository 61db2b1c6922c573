/**
 * Parses the input before anything else looks at it, and the output before anybody gets it. Bad input is answered in
 * words that a model can act on; nothing was run, and no budget or breaker is touched.
 */
import type { z } from "zod";
import { ToolwrightError } from "../../errors.ts";
import { decode, encode, UnencodableError } from "../../util/encode.ts";
import type { Call } from "../call.ts";
import { messageOf } from "../error-record.ts";
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

/** Asynchronously, since a refinement may be: a synchronous try would ask it twice. */
function parse(schema: z.ZodType, value: unknown): Promise<Parsed> {
  return schema.safeParseAsync(value);
}

function inputError(call: Call, error: z.ZodError): ToolwrightError {
  const problems = error.issues.map((issue) => describeIssue(issue, "the input"));
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

function describeIssue(issue: z.core.$ZodIssue, whole: string): string {
  const where = issue.path.length === 0 ? whole : issue.path.join(".");
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
  try {
    call.outputJson = await parseOutput(call, output);
  } catch (error) {
    if (!ToolwrightError.is(error)) throw error;
    call.outputJson = encodeIfPossible(output);
    return refuse(error);
  }
  call.outputBytes = Buffer.byteLength(call.outputJson);
  // What a caller gets now is what a replay would give: the decoded stored form.
  return { kind: "success", output: decode(call.outputJson) };
}

/** The stored form of what the tool, a reconciliation or a person brought. @throws TOOL_OUTPUT_INVALID */
export async function parseOutput(call: Call, output: unknown): Promise<string> {
  const { outputSchema } = call.spec;
  try {
    if (outputSchema === undefined) return encode(output);
    const parsed = await parse(outputSchema, output);
    if (parsed.success) return encode(parsed.data);
    throw outputError(
      call,
      parsed.error.issues.map((issue) => describeIssue(issue, "the output")).join("; "),
    );
  } catch (error) {
    if (ToolwrightError.is(error)) throw error;
    const problem = error instanceof UnencodableError ? `the output: ${error.message}` : messageOf(error);
    throw outputError(call, problem, error);
  }
}

function encodeIfPossible(output: unknown): string | undefined {
  try {
    return encode(output);
  } catch (error) {
    if (error instanceof UnencodableError) return undefined;
    throw error;
  }
}

function outputError(call: Call, problem: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError(
    "TOOL_OUTPUT_INVALID",
    `Tool "${call.spec.name}" ran, but its output is not what it promises: ${problem}.`,
    { details: { tool: call.spec.name }, effect: "happened", cause },
  );
}
