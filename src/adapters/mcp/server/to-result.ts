/** How a call ended, as a result of MCP. Errors have the one shape that models read everywhere. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { ToolwrightError } from "../../../errors.ts";
import type { Outcome } from "../../../invoke/outcome.ts";
import { contentOf } from "./content-of.ts";
import { MCP_IDEMPOTENCY_KEY } from "../idempotency-key.ts";

type Success = Extract<Outcome, { status: "success" }>;

/** @param isPromised the client was shown a schema of the output, and expects structured content */
export function toSuccess(outcome: Success, key: string, isPromised: boolean): CallToolResult {
  const { output, note, replayed } = outcome;
  const { content, structuredContent, isError } = contentOf(output) ?? plainContent(output, isPromised);
  return {
    content: note === undefined ? content : [...content, { type: "text", text: `[${note}]` }],
    ...(structuredContent === undefined && !isPromised
      ? {}
      : { structuredContent: structuredContent ?? null }),
    ...(isError || saysItFailed(output) ? { isError: true } : {}),
    _meta: { [MCP_IDEMPOTENCY_KEY]: key, "toolwright/replayed": replayed },
  };
}

interface Content {
  readonly content: ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

/** A text, or a value as JSON in both forms. */
function plainContent(output: unknown, isPromised: boolean): Content {
  if (typeof output === "string" && !isPromised) return { content: [{ type: "text", text: output }] };
  const structured = toPlainJson(output);
  const text =
    typeof output === "string" ? output : structured === undefined ? "" : JSON.stringify(structured);
  return { content: [{ type: "text", text }], structuredContent: structured };
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

/** JSON as the exported schema describes it: a date is its ISO text. */
function toPlainJson(output: unknown): unknown {
  const text = JSON.stringify(output, (_name, value: unknown) => {
    if (typeof value === "bigint") return value.toString();
    if (value instanceof Map || value instanceof Set) return [...value];
    return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
  });
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}
