/** A workflow of two calls, the second of which kills this process. Its spans are lost, except the context in the store. */
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { openTelemetry } from "../../../src/otel/index.ts";
import { createRuntime, runWorkflow } from "../../../src/index.ts";
import { createPayment } from "./payment.ts";

const [, , store = ""] = process.argv;
const runtime = createRuntime({
  store,
  telemetry: openTelemetry({ tracerProvider: new BasicTracerProvider() }),
});
await runWorkflow(
  createPayment(() => process.kill(process.pid, "SIGKILL")),
  { runtime, runId: "w" },
);
