/** Converts the outcome of a call to an MCP result. Errors have the standard shape. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ToolwrightError } from "../../../errors.ts";
import type { Outcome } from "../../../invoke/outcome.ts";
import { toShownValue } from "../../../util/shown-value.ts";
import { outputContent, type OutputContent } from "./output-content.ts";
import { MCP_IDEMPOTENCY_KEY } from "../idempotency-key.ts";

type Success = Extract<Outcome, { status: "success" }>;

/**
 * The value that the output schema shown to the client describes, and that the client therefore expects as structured
 * content: the output of one of our tools, or the structured content in the output of an imported one.
 */
export type Promised = "nothing" | "output" | "structured-content";

export function toSuccess(outcome: Success, key: string, promised: Promised): CallToolResult {
  const { output, note, replayed } = outcome;
  const { content, structuredContent, isError } = outputContent(output) ?? plainContent(output);
  const structured = promised === "output" ? toShownValue(output) : structuredContent;
  const isText = typeof output === "string" && promised === "nothing";
  return {
    content: note === undefined ? content : [...content, { type: "text", text: `[${note}]` }],
    ...(isText || (structured === undefined && promised === "nothing")
      ? {}
      : { structuredContent: structured ?? null }),
    ...(isError === true || saysItFailed(output) ? { isError: true } : {}),
    _meta: { [MCP_IDEMPOTENCY_KEY]: key, "toolwright/replayed": replayed },
  };
}

/** Text unchanged; any other value as JSON text and as structured content. */
function plainContent(output: unknown): OutputContent {
  const structuredContent = toShownValue(output);
  const text = typeof output === "string" ? output : (JSON.stringify(structuredContent) ?? "");
  return { content: [{ type: "text", text }], structuredContent };
}

export function toFailure(
  error: ToolwrightError,
  meta: Readonly<Record<string, unknown>> = {},
): CallToolResult {
  return {
    // Text only: clients validate structured content against the output schema, even in an error.
    content: [{ type: "text", text: JSON.stringify(error.toModel()) }],
    isError: true,
    _meta: meta,
  };
}

/** Tools may return an error in the standard shape instead of throwing it. */
function saysItFailed(output: unknown): boolean {
  return typeof output === "object" && output !== null && "is_error" in output && output["is_error"] === true;
}
