/** `toolwright/otel`: traces and metrics through `@opentelemetry/api`, which is an optional peer. */
import "../load/peers/opentelemetry.ts";

export { openTelemetry } from "./open-telemetry.ts";
export type { OpenTelemetryOptions } from "./open-telemetry.ts";
export type { TelemetryOption } from "../invoke/telemetry.ts";
