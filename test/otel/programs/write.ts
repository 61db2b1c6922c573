/** A workflow whose second attempt kills this process, once the span context of that attempt is stored. */
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { openTelemetry } from "../../../src/otel/index.ts";
import { createRuntime, runWorkflow } from "../../../src/index.ts";
import { createWriting } from "./writing.ts";

const [, , store = ""] = process.argv;
const runtime = createRuntime({
  store,
  telemetry: openTelemetry({ tracerProvider: new BasicTracerProvider() }),
});

async function write(attempt: number): Promise<void> {
  const database = new DatabaseSync(store);
  const readTrace = (): unknown => database.prepare("SELECT trace FROM toolwright_scopes").get()?.["trace"];
  const before = readTrace();
  while (readTrace() === before) await setImmediate();
  if (attempt > 1) process.kill(process.pid, "SIGKILL");
  throw new Error("no idea");
}

await runWorkflow(createWriting(write), { runtime, runId: "w" });
