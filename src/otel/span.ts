/** A span of the SDK, guarded: it cannot harm the work, and ends once. */
import { type Context, type Link, type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import type { EarlierSpan, OpenSpan, WorkEnd } from "../invoke/telemetry.ts";
import { describeEnd } from "./attributes.ts";
import { currentFrame, type Frame, runInFrame } from "./frames.ts";
import { fromTraceParent, toTraceParent } from "./trace-parent.ts";
import type { Watch } from "./watch.ts";

export interface SpanOptions {
  readonly watch: Watch;
  readonly hasContent: boolean;
  /** The name of an agent: `null` if it has none. */
  readonly agent?: string | null | undefined;
  readonly onEnd?: ((end: WorkEnd, seconds: number) => void) | undefined;
}

export class GuardedSpan implements OpenSpan {
  readonly trace: string | null;
  readonly #span: Span | undefined;
  readonly #frame: Frame | undefined;
  readonly #options: SpanOptions;
  readonly #startedMs = performance.now();
  #isOver = false;

  /** @param span `undefined` if the tracer failed */
  constructor(span: Span | undefined, parent: Context, options: SpanOptions) {
    const { watch, agent } = options;
    this.#options = options;
    this.trace = span === undefined ? null : watch.try(() => toTraceParent(span.spanContext()), null);
    // Without an SDK there is no trace, so there is nothing to pass on.
    this.#span = this.trace === null ? undefined : span;
    const name = agent === undefined ? currentFrame()?.agent : (agent ?? undefined);
    const context =
      this.#span === undefined ? undefined : watch.try(() => trace.setSpan(parent, span as Span), undefined);
    const keepsFrame = context === undefined && agent !== undefined;
    this.#frame =
      context !== undefined || keepsFrame ? { context: context ?? parent, agent: name } : undefined;
  }

  link(earlier: EarlierSpan): void {
    const link = toLink(earlier);
    if (link !== undefined) this.#options.watch.try(() => this.#span?.addLink(link), undefined);
  }

  event(name: string, attributes: Readonly<Record<string, string | number>>): void {
    this.#options.watch.try(() => this.#span?.addEvent(name, attributes), undefined);
  }

  within<T>(work: () => T): T {
    return this.#frame === undefined ? work() : runInFrame(this.#frame, this.#options.watch, work);
  }

  end(end: WorkEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { watch, hasContent, onEnd } = this.#options;
    onEnd?.(end, (performance.now() - this.#startedMs) / 1_000);
    const span = this.#span;
    if (span === undefined) return;
    watch.try(() => {
      span.setAttributes(describeEnd(end, hasContent));
      if (end.errorType !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    }, undefined);
  }
}

export function toLink({ trace: text, reason }: EarlierSpan): Link | undefined {
  const context = fromTraceParent(text);
  return context && { context, attributes: { "toolwright.link": reason } };
}
