/** Span contexts as text, in the W3C format, for the store and for requests to MCP servers. */
import { createTraceState, isSpanContextValid, type SpanContext, TraceFlags } from "@opentelemetry/api";

const FORMAT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** `null` for a context that belongs to no trace, as without an SDK. */
export function toTraceParent(span: SpanContext | undefined): string | null {
  if (span === undefined || !isSpanContextValid(span)) return null;
  const flags = (span.traceFlags & TraceFlags.SAMPLED) === 0 ? "00" : "01";
  return `00-${span.traceId}-${span.spanId}-${flags}`;
}

/**
 * `undefined` for anything else: the text may come from another program.
 * @param state the `tracestate` that came with it
 */
export function fromTraceParent(text: unknown, state?: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags] = (typeof text === "string" ? FORMAT.exec(text) : null) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const span = {
    traceId,
    spanId,
    traceFlags,
    isRemote: true,
    ...(typeof state === "string" && state !== "" ? { traceState: createTraceState(state) } : {}),
  };
  return isSpanContextValid(span) ? span : undefined;
}
