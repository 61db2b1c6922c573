/** The telemetry of one runtime: spans for work that is really done, and counts for the rest. */
import type { CallEvent, RuntimeEvent } from "../invoke/events.ts";
import type { CallSpan, CallWork, McpRequest, OpenSpan, Telemetry, Work } from "../invoke/telemetry.ts";
import { TracedCall } from "./call-span.ts";
import type { Metrics } from "./metrics.ts";
import type { SdkPresence } from "./sdk-presence.ts";
import type { Spans } from "./spans.ts";

export class RuntimeTelemetry implements Telemetry {
  readonly #spans: Spans;
  readonly #metrics: Metrics;
  readonly #sdk: SdkPresence;

  constructor(spans: Spans, metrics: Metrics, sdk: SdkPresence) {
    this.#spans = spans;
    this.#metrics = metrics;
    this.#sdk = sdk;
  }

  isIdle(): boolean {
    return this.#sdk.isMissing();
  }

  isMeasured(): boolean {
    return this.#sdk.hasMeter();
  }

  notice(event: RuntimeEvent, span?: CallSpan): void {
    switch (event.type) {
      case "call-finished":
        this.#count(event);
        if (span instanceof TracedCall) span.notice(event);
        // It ended by a decision about another one, and was not made again.
        else if (!event.replayed && !event.fromCache) this.#spanOf(event);
        return;
      case "call-retried":
      case "breaker-opened":
        if (span instanceof TracedCall) span.notice(event);
        return;
      case "call-interrupted":
        return this.#metrics.becameUnknown(event.toolName);
      case "approval-settled":
        return this.#metrics.approvalWaited(event.waitedMs, event.approved);
      case "run-claimed":
        return this.#metrics.queued(event.waitedMs, event.kind);
      case "run-taken-over":
        return this.#metrics.takenOver(event);
      default:
        return;
    }
  }

  open(work: Work): OpenSpan {
    return this.#spans.begin(work, (end, seconds) => this.#metrics.ended(work, end, seconds));
  }

  openCall(work: CallWork): TracedCall {
    return new TracedCall(work, this.#beginCall, this.#metrics);
  }

  carrier(): Readonly<Record<string, string>> {
    return this.#spans.carrier();
  }

  continueFrom<T>(request: McpRequest, work: () => T): T {
    return this.#spans.continueFrom(request, work);
  }

  noteMcpCall(statusCode?: number): void {
    this.#spans.noteMcpCall(statusCode);
  }

  apart<T>(work: () => T): T {
    return this.#spans.apart(work);
  }

  committed(ms: number): void {
    this.#metrics.committed(ms);
  }

  close(): void {
    this.#metrics.close();
  }

  readonly #beginCall: Spans["beginCall"] = (work, earlier) => this.#spans.beginCall(work, earlier);

  #count({ toolName, status, replayed, fromCache }: Extract<CallEvent, { type: "call-finished" }>): void {
    if (replayed || fromCache) this.#metrics.replayed(toolName, fromCache && !replayed ? "cache" : "log");
    else if (status === "unknown") this.#metrics.becameUnknown(toolName);
  }

  #spanOf(event: Extract<CallEvent, { type: "call-finished" }>): void {
    const { runId, kind, nodeId, iteration, attempt, toolName, toolCallId } = event;
    const location = { runId, kind, nodeId, iteration, attempt };
    const span = this.openCall({ location, toolName, description: "", toolCallId });
    span.notice(event);
    span.close({ hasBegun: false, earlier: undefined });
  }
}
