/** Whether there is an SDK. Without one, calls skip telemetry completely: the API alone would cost a few microseconds. */
import {
  createNoopMeter,
  type MeterProvider,
  metrics,
  ProxyTracerProvider,
  trace,
  type TracerProvider,
} from "@opentelemetry/api";

/** The API returns this until an SDK is registered. */
const NO_TRACERS = new ProxyTracerProvider().getDelegate();
const NO_METER = createNoopMeter();

export class SdkPresence {
  /** An SDK stays. */
  #isFound: boolean;
  readonly #hasMeterProvider: boolean;

  constructor(tracerProvider: TracerProvider | undefined, meterProvider: MeterProvider | undefined) {
    this.#isFound = tracerProvider !== undefined || meterProvider !== undefined;
    this.#hasMeterProvider = meterProvider !== undefined;
  }

  /** Cheap: asked several times for each call. An SDK may be registered later than the runtime was created. */
  isMissing(): boolean {
    this.#isFound ||= hasTracers() || hasGlobalMeter();
    return !this.#isFound;
  }

  hasMeter(): boolean {
    return this.#hasMeterProvider || hasGlobalMeter();
  }
}

export function hasGlobalMeter(): boolean {
  return metrics.getMeter("toolwright") !== NO_METER;
}

function hasTracers(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== NO_TRACERS;
}
