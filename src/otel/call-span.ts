/**
 * The span of a call. It begins when the call is entered. A call that ends without being entered, because it was refused or
 * denied, has a span without a length. A call whose result was stored before has none.
 */
import type { CallEvent } from "../invoke/events.ts";
import type { CallEnd, CallSpan, CallWork, EarlierSpan, WorkEnd } from "../invoke/telemetry.ts";
import { toErrorType } from "./attributes.ts";
import type { Metrics } from "./metrics.ts";
import type { GuardedSpan } from "./span.ts";

/** Begins a span. */
type Begin = (work: CallWork, earlier: EarlierSpan | undefined) => GuardedSpan;

export class TracedCall implements CallSpan {
  readonly #work: CallWork;
  readonly #begin: Begin;
  readonly #metrics: Metrics;
  #span: GuardedSpan | undefined;
  #startedMs = 0;
  #finished: Extract<CallEvent, { type: "call-finished" }> | undefined;

  constructor(work: CallWork, begin: Begin, metrics: Metrics) {
    this.#work = work;
    this.#begin = begin;
    this.#metrics = metrics;
  }

  get trace(): string | null {
    return this.#span?.trace ?? null;
  }

  enter<T>(earlier: EarlierSpan | undefined, work: () => T): T {
    if (this.#span === undefined) {
      this.#span = this.#begin(this.#work, earlier);
      this.#startedMs = performance.now();
    }
    return this.#span.within(work);
  }

  /** What the event says about the call is on its span. */
  notice(event: CallEvent): void {
    if (event.type === "call-finished") this.#finished = event;
    if (event.type === "call-retried")
      this.#span?.event("toolwright.retry", {
        "toolwright.tries": event.tries,
        "error.type": toErrorType(event.errorCode) ?? "_OTHER",
      });
    if (event.type === "breaker-opened") this.#span?.event("toolwright.breaker_opened", {});
  }

  close({ hasBegun, earlier, ...end }: WorkEnd & CallEnd): void {
    const finished = this.#finished;
    if (finished === undefined) {
      // Its outcome could not be stored.
      if (this.#span !== undefined && hasBegun) this.#end(this.#span, end, "unknown");
      return;
    }
    // Counted by the event.
    if (finished.replayed || finished.fromCache) return;
    const { status, errorCode } = finished;
    const errorType = errorCode ?? (status === "denied" ? "TOOL_APPROVAL_DENIED" : undefined);
    this.#end(this.#span ?? this.#begin(this.#work, earlier), { ...end, errorType }, status);
  }

  #end(span: GuardedSpan, end: WorkEnd, status: string): void {
    span.end({ ...end, status });
    if (this.#startedMs === 0 || status === "pending") return;
    this.#metrics.toolRan(this.#work.toolName, end.errorType, (performance.now() - this.#startedMs) / 1_000);
  }
}
