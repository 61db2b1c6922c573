/** The outcome of a call as the model reads it: plain text or JSON, and every error in the one shape of errors. */
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
  /** The same without what must not be stored: on a resume the result is made of the stored form. */
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
  // Half a character, as a text that was cut may end with, is refused by the API, now and in every later request.
  const sent = typeof content === "string" ? content.toWellFormed() : content;
  const block = { type: "tool_result" as const, tool_use_id: toolUseId, content: sent };
  return isError ? { ...block, is_error: true } : block;
}
