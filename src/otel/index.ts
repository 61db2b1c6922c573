/** `toolwright/otel`: traces and metrics through `@opentelemetry/api`, which is an optional peer. */
export { openTelemetry, type OpenTelemetryOptions } from "./open-telemetry.ts";
export type { TelemetryOption } from "../invoke/telemetry.ts";
