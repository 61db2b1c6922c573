/** How a call ended, as a result of MCP. Errors have the one shape that models read everywhere. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ToolwrightError } from "../../../errors.ts";
import type { Outcome } from "../../../invoke/outcome.ts";
import { toShownValue } from "../../../util/shown-value.ts";
import { contentOf, type OutputContent } from "./content-of.ts";
import { MCP_IDEMPOTENCY_KEY } from "../idempotency-key.ts";

type Success = Extract<Outcome, { status: "success" }>;

/**
 * What the client was shown a schema of, and expects as structured content: the output of a tool of ours, or the structured
 * content in the output of an imported one.
 */
export type Promised = "nothing" | "output" | "structured-content";

export function toSuccess(outcome: Success, key: string, promised: Promised): CallToolResult {
  const { output, note, replayed } = outcome;
  const { content, structuredContent, isError } = contentOf(output) ?? plainContent(output);
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

/** A text as it is, another value as JSON in both forms. */
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
    // As text only: clients check structured content against the schema of the output, also in an error.
    content: [{ type: "text", text: JSON.stringify(error.toModel()) }],
    isError: true,
    _meta: meta,
  };
}

/** Tools may answer in the shape of an error instead of throwing one. */
function saysItFailed(output: unknown): boolean {
  return typeof output === "object" && output !== null && "is_error" in output && output["is_error"] === true;
}
