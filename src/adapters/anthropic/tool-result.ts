/** Converts the outcome of a call to a result block: text or JSON, and every error in the standard shape. */
import type { ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import type { ToolwrightError } from "../../errors.ts";
import { storedError } from "../../invoke/error-record.ts";
import type { Outcome } from "../../invoke/outcome.ts";
import { storableOutput } from "../../invoke/storable.ts";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { type ResultBlocks, toResultBlocks } from "./content-blocks.ts";
import { outputText, saysError } from "../../tool/model-answer.ts";

export interface CallResult {
  readonly block: ToolResultBlockParam;
  /** The redacted form, which a resume builds the result from. */
  readonly stored: ToolResultBlockParam;
}

export function errorResult(toolUseId: string, error: ToolwrightError): CallResult {
  const block = resultBlock(toolUseId, JSON.stringify(error.toModel()), true);
  if (error.logged === undefined) return { block, stored: block };
  return { block, stored: resultBlock(toolUseId, JSON.stringify(storedError(error).toModel()), true) };
}

export function resultOf(
  toolUseId: string,
  outcome: Exclude<Outcome, { status: "pending" }>,
  { spec, args }: { readonly spec: ToolSpec; readonly args: unknown },
  secret: string,
): CallResult {
  if (outcome.status !== "success") return errorResult(toolUseId, outcome.error);
  const { output, note } = outcome;
  const block = resultBlock(toolUseId, contentOf(output, note), saysError(output));
  if (spec.redactOutput.length + spec.redactInput.length === 0) return { block, stored: block };
  const masked = storableOutput(spec, args, output, secret);
  return { block, stored: resultBlock(toolUseId, contentOf(masked, note), saysError(output)) };
}

function contentOf(output: unknown, note: string | undefined): string | ResultBlocks {
  return toResultBlocks(output, note) ?? outputText(output, note);
}

function resultBlock(
  toolUseId: string,
  content: string | ResultBlocks,
  isError: boolean,
): ToolResultBlockParam {
  // A truncated text may end with half a character, which the API rejects in this and every later request.
  const sent = typeof content === "string" ? content.toWellFormed() : content;
  const block = { type: "tool_result" as const, tool_use_id: toolUseId, content: sent };
  return isError ? { ...block, is_error: true } : block;
}
