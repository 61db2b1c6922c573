/** Runs the calls of one response and formats their results for the Messages API. */
import type { ToolResultBlockParam, ToolUseBlock } from "@anthropic-ai/sdk/resources/messages";
import type { Approval } from "../../invoke/approval.ts";
import {
  type CallResult,
  keysOf,
  pendingApprovals,
  resultOf,
  type TerminalCall,
  terminalCallIn,
} from "../../loop/call-results.ts";
import { type CallsOptions, runCalls } from "../../loop/run-calls.ts";
import { resultFormat } from "./tool-result.ts";

/** A call in a response. */
export interface RequestedBlock {
  readonly block: ToolUseBlock;
  /** The raw text of an invalid input. */
  readonly malformed: string | undefined;
}

export interface FinishedCalls {
  /** In the order of the calls, without calls that wait for approval. */
  readonly results: readonly CallResult<ToolResultBlockParam>[];
  readonly pending: readonly Approval[];
  /** The keys under which they are logged. */
  readonly keys: readonly string[];
  /** The first successful call of a terminal tool. */
  readonly terminal: TerminalCall | undefined;
}

export async function runBlocks(
  blocks: readonly RequestedBlock[],
  options: CallsOptions,
): Promise<FinishedCalls> {
  const calls = blocks.map(({ block: { id, name, input }, malformed }) => ({ id, name, input, malformed }));
  const ended = await runCalls(calls, options);
  const { secret } = options.scope.host.store;
  return {
    results: ended.flatMap((one) => resultOf(one, secret, resultFormat(one.call.id)) ?? []),
    pending: pendingApprovals(ended),
    keys: keysOf(ended),
    terminal: terminalCallIn(ended),
  };
}
