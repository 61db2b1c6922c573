/**
 * Parses the input before any other stage uses it, and the output before the caller receives it. An invalid input is an error
 * that a model can act on: nothing was run, and no limit or breaker is affected.
 */
import { z } from "zod";
import { describeIssues } from "../../definition/describe-issues.ts";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { ToolwrightError } from "../../errors.ts";
import { decode, encode, HostValue } from "../../util/encode.ts";
import { abortError } from "../abort-error.ts";
import { withTimeLimit, withTimeLimitAfterEffect } from "../author-functions.ts";
import type { Call } from "../call.ts";
import { messageOf } from "../error-record.ts";
import type { Result } from "../outcome.ts";
import type { Policy } from "../policy.ts";
import { aborted, refuse } from "../policy.ts";
import { holdsMark, markError, unmask } from "../redact.ts";
import { hidesInput, storableInput } from "../storable.ts";

export const validate: Policy = async (call, next) => {
  try {
    // Awaited only if it is a promise: most schemas are synchronous.
    const preparing = prepareInput(call);
    if (preparing instanceof Promise) await preparing;
  } catch (error) {
    return call.signal?.aborted === true ? aborted(call) : refuse(asInputError(call, error));
  }
  const result = await next(call);
  return result.kind === "success" && result.fromCache !== true ? checkOutput(call, result.output) : result;
};

/** Parses the arguments that would run: as edited by an approver, or as sent. */
export function prepareInput(call: Call): unknown {
  const { spec, args, editedArgsJson } = call;
  const sent = editedArgsJson === null ? args : unmask(decode(editedArgsJson), args);
  call.sent = sent;
  // Until the input is known to be valid, all of it is hidden if the tool redacts anything.
  call.inputJson = encode(storableInput(spec, sent, call.host.store.secret, undefined));
  if (!spec.takesMarks && holdsMark(hidesInput(spec) ? encode(args) : call.inputJson)) {
    if (editedArgsJson === null || spec.redactInput.length > 0) throw markError(spec.name, args);
  }
  const parsing = parse(spec.schema, sent);
  return parsing instanceof Promise ? takeLater(call, parsing) : takeInput(call, parsing);
}

async function takeLater(call: Call, parsing: Promise<Parsed>): Promise<unknown> {
  let parsed: Parsed;
  try {
    parsed = await withTimeLimit(call, parsing);
  } catch (error) {
    if (call.signal?.aborted !== true) throw asInputError(call, error);
    throw abortError(call, { doing: "while its input was checked", effect: "none" });
  }
  return takeInput(call, parsed);
}

function takeInput(call: Call, parsed: Parsed): unknown {
  const { spec, sent, host } = call;
  if (!parsed.success) throw inputError(call, parsed.error);
  call.input = parsed.data;
  if (hidesInput(spec)) call.inputJson = encode(storableInput(spec, sent, host.store.secret, parsed));
  return call.input;
}

type Parsed = { success: true; data: unknown } | { success: false; error: z.ZodError };

// Schemas that have parsed a value synchronously. The first parse is asynchronous: a synchronous attempt at a schema with
// asynchronous refinements would run them twice.
const synchronous = new WeakSet<z.ZodType>();

function parse(schema: z.ZodType, value: unknown): Parsed | Promise<Parsed> {
  if (synchronous.has(schema)) {
    try {
      return schema.safeParse(value);
    } catch (error) {
      // Asynchronous in a branch that no earlier value took.
      if (!(error instanceof z.core.$ZodAsyncError)) throw error;
      synchronous.delete(schema);
    }
  }
  const run = schema._zod.run({ value, issues: [] }, { async: true });
  if (!(run instanceof Promise)) synchronous.add(schema);
  return run instanceof Promise ? run.then(toParsed) : toParsed(run);
}

function toParsed(payload: z.core.ParsePayload): Parsed {
  if (payload.issues.length === 0) return { success: true, data: payload.value };
  const issues = payload.issues.map((issue) => z.core.util.finalizeIssue(issue, undefined, z.config()));
  return { success: false, error: new z.ZodError(issues) };
}

/** The error that a call with this value would return, without making a call. */
export async function findInputError(
  spec: Call["spec"],
  value: unknown,
): Promise<ToolwrightError | undefined> {
  try {
    const parsed = await parse(spec.schema, value);
    return parsed.success ? undefined : inputError({ spec }, parsed.error);
  } catch (error) {
    return asInputError({ spec }, error);
  }
}

function inputError(call: Pick<Call, "spec">, error: z.ZodError): ToolwrightError {
  return new ToolwrightError(
    "TOOL_INPUT_INVALID",
    `Tool "${call.spec.name}" cannot take this input: ${describeIssues(error, "the input")}.`,
    {
      details: {
        tool: call.spec.name,
        issues: error.issues.map(({ path, message, code }) => ({ path: path.join("."), message, code })),
      },
      effect: "none",
    },
  );
}

function asInputError(call: Pick<Call, "spec">, error: unknown): ToolwrightError {
  if (ToolwrightError.is(error)) return error;
  return new ToolwrightError(
    "TOOL_INPUT_INVALID",
    `Tool "${call.spec.name}" cannot take this input: ${messageOf(error)}.`,
    {
      details: { tool: call.spec.name },
      effect: "none",
      cause: error,
    },
  );
}

/** The effect has happened, so an invalid output is an error that is never retried. */
function checkOutput(call: Call, returned: unknown): Result | Promise<Result> {
  const output = call.hostLoop === undefined ? returned : call.hostLoop.pack(returned);
  // The schema does not describe objects of the enclosing loop.
  if (!HostValue.is(output) && call.spec.outputSchema !== undefined) return checkSchema(call, output);
  try {
    const accepted = accept(call, encode(output));
    return HostValue.is(output) ? { kind: "success", output } : accepted;
  } catch (error) {
    // Any error: reading the output may run code of the tool's author.
    return refuse(outputError(call, `the output: ${messageOf(error)}`, error));
  }
}

async function checkSchema(call: Call, output: unknown): Promise<Result> {
  try {
    return accept(call, await parseOutput(call, output));
  } catch (error) {
    if (!ToolwrightError.is(error)) throw error;
    call.outputJson = encodeIfPossible(output);
    return refuse(error);
  }
}

/** The live caller gets the decoded stored form, as a replay does. */
function accept(call: Call, outputJson: string): Result {
  call.outputJson = outputJson;
  return { kind: "success", output: decode(outputJson) };
}

/** The stored form of an output from the tool, from `reconcile` or from an approver. @throws TOOL_OUTPUT_INVALID */
export async function parseOutput(call: Call, output: unknown): Promise<string> {
  const { outputSchema } = call.spec;
  try {
    if (outputSchema === undefined) return encode(output);
    const parsing = parse(outputSchema, output);
    const parsed = parsing instanceof Promise ? await withTimeLimitAfterEffect(call, parsing) : parsing;
    if (parsed.success) return encode(parsed.data);
    throw outputError(call, describeIssues(parsed.error, "the output"));
  } catch (error) {
    if (ToolwrightError.is(error)) throw error;
    throw outputError(call, `the output: ${messageOf(error)}`, error);
  }
}

function encodeIfPossible(output: unknown): string | undefined {
  try {
    return encode(output);
  } catch {
    // The validation error is reported in any case.
    return undefined;
  }
}

function outputError({ spec }: Call, problem: string, cause?: unknown): ToolwrightError {
  return badOutput(spec, `its output is invalid: ${problem}`, cause);
}

/** The tool ran. The hint depends on whether it has an external effect. */
export function badOutput(spec: ToolSpec, what: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError("TOOL_OUTPUT_INVALID", `Tool "${spec.name}" ran, but ${what}.`, {
    details: { tool: spec.name },
    effect: "happened",
    cause,
    ...(spec.sideEffect ? {} : { hint: PURE_HINT }),
  });
}

const PURE_HINT =
  "The tool has no external effect, so there is nothing to undo. Call it with different arguments, or continue without its result.";
