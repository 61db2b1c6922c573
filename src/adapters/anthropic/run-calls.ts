/**
 * Runs the calls of one response: several at once, in the order of the response, each by itself. What is wrong with one is
 * told to the model as its result and harms no other.
 */
import type { ToolUseBlock } from "@anthropic-ai/sdk/resources/messages";
import { z } from "zod";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { ToolwrightError } from "../../errors.ts";
import type { Approval } from "../../invoke/approval.ts";
import { invoke } from "../../invoke/invoke.ts";
import type { Outcome } from "../../invoke/outcome.ts";
import type { Scope } from "../../invoke/scope.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { Tool } from "../../tool/tool.ts";
import { mapAtMost } from "../../util/map-at-most.ts";
import { fromObjectInput } from "../../definition/object-schema.ts";
import { saysError } from "../../tool/model-answer.ts";
import { type CallResult, errorResult, resultOf } from "./tool-result.ts";

/** A call in a response. */
export interface RequestedCall {
  readonly block: ToolUseBlock;
  /** The input as it came, where it cannot be used. */
  readonly malformed: string | undefined;
}

export interface CallsOptions {
  readonly scope: Scope;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly maxParallel: number;
  readonly signal: AbortSignal | undefined;
}

export interface FinishedCalls {
  /** In the order of the calls. Without those that wait. */
  readonly results: readonly CallResult[];
  readonly pending: readonly Approval[];
  /** What they are on record as. */
  readonly keys: readonly string[];
  /** The first terminal tool that did its work. */
  readonly terminal: TerminalCall | undefined;
}

export interface TerminalCall {
  readonly spec: ToolSpec;
  readonly status: string;
  readonly input: unknown;
  readonly output: unknown;
}

export async function runCalls(
  calls: readonly RequestedCall[],
  options: CallsOptions,
): Promise<FinishedCalls> {
  const ended = await mapAtMost(options.maxParallel, calls, (call) => runCall(call, options));
  return {
    results: ended.flatMap(({ result }) => (result === undefined ? [] : [result])),
    pending: ended.flatMap(({ pending }) => (pending === undefined ? [] : [pending])),
    keys: ended.flatMap(({ key }) => key ?? []),
    terminal: ended.find(({ terminal }) => terminal !== undefined)?.terminal,
  };
}

interface EndedCall {
  readonly key?: string | null;
  readonly result?: CallResult;
  readonly pending?: Approval;
  readonly terminal?: TerminalCall;
}

async function runCall(call: RequestedCall, options: CallsOptions): Promise<EndedCall> {
  const { id, name, input } = call.block;
  const tool = options.tools.get(name);
  if (tool === undefined) return { result: errorResult(id, notOffered(name, options.tools)) };
  const spec = specOf(tool);
  const args = fromObjectInput(spec.inputJsonSchema, input);
  const outcome = await callTool(spec, args, call, options);
  const { key } = outcome;
  if (outcome.status === "pending") return { key, pending: outcome.approval };
  const result = resultOf(id, outcome, spec, options.scope.host.store.secret);
  const hasEnded = outcome.status === "success" && spec.terminal !== false && !saysError(outcome.output);
  if (!hasEnded) return { key, result };
  return {
    key,
    result,
    terminal: { spec, status: spec.terminal.status, input: args, output: outcome.output },
  };
}

/** Input that cannot be used goes the same way as any other, so that it is logged and answered in the same words. */
function callTool(
  spec: ToolSpec,
  args: unknown,
  { block, malformed }: RequestedCall,
  { scope, signal }: CallsOptions,
): Promise<Outcome> {
  const how = { toolCallId: block.id, signal };
  if (malformed === undefined) return invoke(scope, spec, args, how);
  // Nobody knows where in it the fields are that must not be stored.
  const isSecret = spec.redactInput.length > 0 || spec.logInput !== undefined;
  const shown = isSecret ? "(left out)" : malformed;
  const refusing = {
    ...spec,
    schema: z.custom(() => false, "it is not valid JSON, or nested too deeply; nothing was run"),
  };
  return invoke(scope, refusing, shown, how);
}

function notOffered(name: string, tools: ReadonlyMap<string, Tool>): ToolwrightError {
  const offered = [...tools.keys()].join(", ");
  return new ToolwrightError(
    "TOOL_NOT_FOUND",
    `No tool named "${name}" is offered. ${offered === "" ? "There are none." : `There are: ${offered}.`}`,
    { details: { tool: name }, effect: "none" },
  );
}
