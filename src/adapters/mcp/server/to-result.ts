/** How a call ended, as a result of MCP. Errors have the one shape that models read everywhere. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ToolwrightError } from "../../../errors.ts";
import type { Outcome } from "../../../invoke/outcome.ts";
import { toShownValue } from "../../../util/shown-value.ts";
import { MCP_IDEMPOTENCY_KEY } from "../idempotency-key.ts";

type Success = Extract<Outcome, { status: "success" }>;

/** @param isPromised the client was shown a schema of the output, and expects structured content */
export function toSuccess(outcome: Success, key: string, isPromised: boolean): CallToolResult {
  const { output, note, replayed } = outcome;
  const structured = toShownValue(output);
  const isText = typeof output === "string";
  const text = isText ? output : structured === undefined ? "" : JSON.stringify(structured);
  return {
    content: [
      { type: "text", text },
      ...(note === undefined ? [] : [{ type: "text" as const, text: `[${note}]` }]),
    ],
    ...(isPromised || (!isText && structured !== undefined) ? { structuredContent: structured ?? null } : {}),
    ...(saysItFailed(output) ? { isError: true } : {}),
    _meta: { [MCP_IDEMPOTENCY_KEY]: key, "toolwright/replayed": replayed },
  };
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
