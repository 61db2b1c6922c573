/** Creates the telemetry option of a runtime. */
import type { MeterProvider, TracerProvider } from "@opentelemetry/api";
import { must, oneOf } from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import type { TelemetryOption } from "../invoke/telemetry.ts";
import { Metrics } from "./metrics.ts";
import { RuntimeTelemetry } from "./runtime-telemetry.ts";
import { SdkPresence } from "./sdk-presence.ts";
import { Spans } from "./spans.ts";
import { Watch } from "./watch.ts";

export interface OpenTelemetryOptions {
  /**
   * `"redacted"`: spans of calls have the arguments, outputs and error messages as they are logged. Default `false`: no
   * content.
   */
  readonly content?: false | "redacted" | undefined;
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Default: the global one. */
  readonly meterProvider?: MeterProvider | undefined;
}

export const OPEN_TELEMETRY_OPTIONS: OptionTable = optionTable<OpenTelemetryOptions>("openTelemetry", {
  content: oneOf(false, "redacted"),
  tracerProvider: must((value) => has(value, "getTracer"), "a TracerProvider, with getTracer()"),
  meterProvider: must((value) => has(value, "getMeter"), "a MeterProvider, with getMeter()"),
});

/**
 * Traces and metrics of a runtime, by the OpenTelemetry GenAI conventions. Without an SDK it does nothing.
 *
 * @example
 * const runtime = createRuntime({ store: "app.db", telemetry: openTelemetry() });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): TelemetryOption {
  checkOptions(OPEN_TELEMETRY_OPTIONS, options);
  const { content = false, tracerProvider, meterProvider } = options;
  return {
    connect(source) {
      const watch = new Watch((topic, message) => source.warnOnce(topic, message));
      const metrics = new Metrics(meterProvider, source, watch);
      const spans = new Spans(tracerProvider, content === "redacted", watch);
      return new RuntimeTelemetry(spans, metrics, new SdkPresence(tracerProvider, meterProvider));
    },
  };
}

function has(value: unknown, name: string): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Readonly<Record<string, unknown>>)[name] === "function"
  );
}
