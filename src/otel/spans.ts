/** Begins spans with the tracer of the SDK. */
import { type Span, type Tracer, trace, type TracerProvider } from "@opentelemetry/api";
import { OWN_COPY } from "../definition/package-copy.ts";
import type { CallWork, EarlierSpan, Work, WorkEnd } from "../invoke/telemetry.ts";
import { describeCall, describeWork, type Described } from "./attributes.ts";
import { currentContext, runInFrame } from "./frames.ts";
import { GuardedSpan, toLink } from "./span.ts";
import { fromTraceParent, toTraceParent } from "./trace-parent.ts";
import type { Watch } from "./watch.ts";

type OnEnd = (end: WorkEnd, seconds: number) => void;

export class Spans {
  readonly #provider: TracerProvider | undefined;
  readonly #hasContent: boolean;
  readonly #watch: Watch;
  #tracer: Tracer | undefined;

  /** @param provider default: the global one, whenever it is registered */
  constructor(provider: TracerProvider | undefined, hasContent: boolean, watch: Watch) {
    this.#provider = provider;
    this.#hasContent = hasContent;
    this.#watch = watch;
  }

  begin(work: Work, onEnd?: OnEnd): GuardedSpan {
    return this.#start(describeWork(work), [], work.type === "agent" ? work.name : undefined, onEnd);
  }

  beginCall(work: CallWork, earlier: EarlierSpan | undefined): GuardedSpan {
    return this.#start(describeCall(work), earlier === undefined ? [] : [earlier]);
  }

  /** The fields of the W3C trace context. Empty without a trace. */
  carrier(): Readonly<Record<string, string>> {
    const span = this.#watch.try(() => trace.getSpan(currentContext(this.#watch))?.spanContext(), undefined);
    const traceparent = toTraceParent(span);
    if (traceparent === null) return {};
    const tracestate = this.#watch.try(() => span?.traceState?.serialize(), undefined);
    return tracestate === undefined || tracestate === "" ? { traceparent } : { traceparent, tracestate };
  }

  continueFrom<T>(carrier: Readonly<Record<string, unknown>> | undefined, work: () => T): T {
    const remote = fromTraceParent(carrier?.["traceparent"]);
    if (remote === undefined) return work();
    const context = this.#watch.try(
      () => trace.setSpanContext(currentContext(this.#watch), remote),
      undefined,
    );
    return context === undefined ? work() : runInFrame({ context, agent: undefined }, this.#watch, work);
  }

  #start(
    { name, kind, attributes }: Described,
    earlier: readonly EarlierSpan[],
    agent?: string,
    onEnd?: OnEnd,
  ): GuardedSpan {
    const watch = this.#watch;
    const parent = currentContext(watch);
    const links = earlier.map(toLink).filter((link) => link !== undefined);
    const options = { kind, attributes, ...(links.length === 0 ? {} : { links }) };
    const span = watch.try((): Span | undefined => {
      this.#tracer ??= (this.#provider ?? trace).getTracer("toolwright", OWN_COPY.version);
      return this.#tracer.startSpan(name, options, parent);
    }, undefined);
    return new GuardedSpan(span, parent, { watch, hasContent: this.#hasContent, agent, onEnd });
  }
}
