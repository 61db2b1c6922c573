/** Runs the calls of one response and converts their outcomes to results for the Messages API. */
import type { ToolUseBlock } from "@anthropic-ai/sdk/resources/messages";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import type { Approval } from "../../invoke/approval.ts";
import { type CallsOptions, type EndedCall, runCalls } from "../../runtime/run-calls.ts";
import { saysError } from "../../tool/model-answer.ts";
import { type CallResult, errorResult, resultOf } from "./tool-result.ts";

/** A call in a response. */
export interface RequestedBlock {
  readonly block: ToolUseBlock;
  /** The raw text of an invalid input. */
  readonly malformed: string | undefined;
}

export interface FinishedCalls {
  /** In the order of the calls, without those that wait for approval. */
  readonly results: readonly CallResult[];
  readonly pending: readonly Approval[];
  /** The keys of the logged calls. */
  readonly keys: readonly string[];
  /** The first terminal tool that succeeded. */
  readonly terminal: TerminalCall | undefined;
}

export interface TerminalCall {
  readonly spec: ToolSpec;
  readonly status: string;
  readonly input: unknown;
  readonly output: unknown;
}

export async function runBlocks(
  blocks: readonly RequestedBlock[],
  options: CallsOptions,
): Promise<FinishedCalls> {
  const calls = blocks.map(({ block: { id, name, input }, malformed }) => ({ id, name, input, malformed }));
  const ended = await runCalls(calls, options);
  const { secret } = options.scope.host.store;
  return {
    results: ended.flatMap((one) => toResult(one, secret)),
    pending: ended.flatMap((one) =>
      one.spec !== undefined && one.outcome.status === "pending" ? [one.outcome.approval] : [],
    ),
    keys: ended.flatMap((one) => (one.spec === undefined ? [] : (one.outcome.key ?? []))),
    terminal: ended.map(toTerminal).find((one) => one !== undefined),
  };
}

function toResult(ended: EndedCall, secret: string): CallResult[] {
  const { id } = ended.call;
  if (ended.spec === undefined) return [errorResult(id, ended.error)];
  const { outcome } = ended;
  return outcome.status === "pending" ? [] : [resultOf(id, outcome, ended, secret)];
}

function toTerminal(ended: EndedCall): TerminalCall | undefined {
  if (ended.spec === undefined || ended.spec.terminal === false) return undefined;
  const { spec, args, outcome } = ended;
  if (outcome.status !== "success" || saysError(outcome.output)) return undefined;
  return { spec, status: ended.spec.terminal.status, input: args, output: outcome.output };
}
