/** Both generations of the SDK, with in-memory exporters, and their spans and metrics in one form. */
import type {
  Attributes,
  Link,
  MeterProvider,
  SpanContext,
  SpanKind,
  SpanStatus,
  TracerProvider,
} from "@opentelemetry/api";
import * as metrics2 from "@opentelemetry/sdk-metrics";
import * as trace2 from "@opentelemetry/sdk-trace-base";
import * as metrics1 from "otel-metrics-1";
import * as trace1 from "otel-trace-1";

export interface SeenSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parentId: string | undefined;
  readonly attributes: Attributes;
  readonly links: readonly Link[];
  readonly status: SpanStatus;
  readonly events: readonly { readonly name: string; readonly attributes?: Attributes | undefined }[];
}

interface SeenPoint {
  readonly attributes: Attributes;
  /** Of a counter or gauge, or the number of values of a histogram. */
  readonly value: number;
}

export interface Seen {
  /** Options of `openTelemetry`. */
  readonly sdk: { readonly tracerProvider: TracerProvider; readonly meterProvider: MeterProvider };
  spans(): SeenSpan[];
  /** The points of a metric. */
  points(name: string): Promise<SeenPoint[]>;
  /** Everything that was exported, as one text. */
  text(): Promise<string>;
}

export const GENERATIONS = ["1.x", "2.x"] as const;
export type Generation = (typeof GENERATIONS)[number];

interface RawSpan extends Omit<SeenSpan, "context" | "parentId"> {
  spanContext(): SpanContext;
  readonly parentSpanId?: string;
  readonly parentSpanContext?: SpanContext;
}

export function openSdk(generation: Generation = "2.x"): Seen {
  const trace = (generation === "1.x" ? trace1 : trace2) as unknown as typeof trace2;
  const metrics = (generation === "1.x" ? metrics1 : metrics2) as unknown as typeof metrics2;
  const exporter = new trace.InMemorySpanExporter();
  const tracerProvider = new trace.BasicTracerProvider({
    spanProcessors: [new trace.SimpleSpanProcessor(exporter)],
  });
  const reader = new metrics.PeriodicExportingMetricReader({
    exporter: new metrics.InMemoryMetricExporter(metrics.AggregationTemporality.CUMULATIVE),
    exportIntervalMillis: 3_600_000,
  });
  const meterProvider = new metrics.MeterProvider({ readers: [reader] });
  const collect = async () =>
    (await reader.collect()).resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  const spans = (): SeenSpan[] =>
    (exporter.getFinishedSpans() as unknown as RawSpan[]).map((span) => ({
      name: span.name,
      kind: span.kind,
      context: span.spanContext(),
      parentId: span.parentSpanContext?.spanId ?? span.parentSpanId,
      attributes: span.attributes,
      links: span.links,
      status: span.status,
      events: span.events,
    }));
  return {
    sdk: { tracerProvider, meterProvider },
    spans,
    points: async (name) => {
      const found = (await collect()).find(({ descriptor }) => descriptor.name === name);
      return (found?.dataPoints ?? []).map(({ attributes, value }) => ({
        attributes,
        value: typeof value === "number" ? value : (value as { readonly count: number }).count,
      }));
    },
    text: async () => JSON.stringify([spans(), await collect()]),
  };
}

/** The tree of spans as indented names, in the order in which they ended. */
export function treeOf(spans: readonly SeenSpan[]): string {
  const ids = new Set(spans.map(({ context }) => context.spanId));
  const lines = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter(({ parentId }) => (parent === undefined ? !ids.has(parentId ?? "") : parentId === parent))
      .flatMap((span) => [`${"  ".repeat(depth)}${span.name}`, ...lines(span.context.spanId, depth + 1)]);
  return lines(undefined, 0).join("\n");
}

export function spanNamed(spans: readonly SeenSpan[], name: string): SeenSpan {
  const found = spans.findLast((span) => span.name === name);
  if (found === undefined)
    throw new Error(`There is no span "${name}": ${spans.map((span) => span.name).join(", ")}`);
  return found;
}

/** Why a span links, and to which span. */
export function linksOf({ links }: SeenSpan): [unknown, string][] {
  return links.map(({ attributes, context }) => [attributes?.["toolwright.link"], context.spanId]);
}
