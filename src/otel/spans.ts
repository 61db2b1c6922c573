/** Begins spans with the tracer of the SDK. */
import { ROOT_CONTEXT, type Span, type Tracer, trace, type TracerProvider } from "@opentelemetry/api";
import { OWN_COPY } from "../definition/package-copy.ts";
import type { CallWork, EarlierSpan, McpRequest, Work, WorkEnd } from "../invoke/telemetry.ts";
import {
  describeCall,
  describeRemoteCall,
  describeRequest,
  describeWork,
  type Described,
} from "./attributes.ts";
import { currentContext, currentFrame, runInFrame } from "./frames.ts";
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
    // An agent without a name must not get the name of the agent around it.
    return this.#start(
      describeWork(work),
      [],
      work.type === "agent" ? (work.name ?? null) : undefined,
      onEnd,
    );
  }

  beginCall(work: CallWork, earlier: EarlierSpan | undefined): GuardedSpan {
    return this.#start(describeCall(work, currentFrame()), earlier === undefined ? [] : [earlier]);
  }

  /** The fields of the W3C trace context. Empty without a trace. */
  carrier(): Readonly<Record<string, string>> {
    const span = this.#watch.try(() => trace.getSpan(currentContext(this.#watch))?.spanContext(), undefined);
    const traceparent = toTraceParent(span);
    if (traceparent === null) return {};
    const tracestate = this.#watch.try(() => span?.traceState?.serialize(), undefined);
    return tracestate === undefined || tracestate === "" ? { traceparent } : { traceparent, tracestate };
  }

  continueFrom<T>({ id, carrier }: McpRequest, work: () => T): T {
    const remote = fromTraceParent(carrier?.["traceparent"], carrier?.["tracestate"]);
    const here = currentContext(this.#watch);
    const context =
      remote === undefined ? here : this.#watch.try(() => trace.setSpanContext(here, remote), here);
    return runInFrame({ context, agent: undefined, request: describeRequest(id) }, this.#watch, work);
  }

  noteMcpCall(statusCode?: number): void {
    this.#watch.try(
      () => trace.getSpan(currentContext(this.#watch))?.setAttributes(describeRemoteCall(statusCode)),
      undefined,
    );
  }

  /** Background work starts in the context of whatever started it, which may have ended hours ago. */
  apart<T>(work: () => T): T {
    return runInFrame({ context: ROOT_CONTEXT, agent: undefined }, this.#watch, work);
  }

  #start(
    { name, kind, attributes }: Described,
    earlier: readonly EarlierSpan[],
    agent?: string | null,
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
