/** The cost of telemetry per call: with the API and no SDK, and with an SDK that drops everything. */
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { createRuntime, defineTool, type Runtime } from "toolwright";
import { openTelemetry } from "toolwright/otel";
import { z } from "zod";
import type { Row } from "./bench.ts";
import { compare } from "./measure.ts";

const tool = defineTool({
  name: "order",
  schema: z.object({ sku: z.string() }),
  sideEffect: true,
  idempotent: true,
  execute: async ({ sku }) => ({ sku }),
});

/** In memory, since a disk is slower than the code that is measured here, and less regular. */
export async function benchOtel(): Promise<Row[]> {
  const sdk = { tracerProvider: new BasicTracerProvider(), meterProvider: new MeterProvider() };
  const runtimes: Readonly<Record<string, Runtime>> = {
    without: createRuntime({ store: ":memory:" }),
    // The same again: the difference between these two is the noise.
    again: createRuntime({ store: ":memory:" }),
    api: createRuntime({ store: ":memory:", telemetry: openTelemetry() }),
    sdk: createRuntime({ store: ":memory:", telemetry: openTelemetry(sdk) }),
  };
  const times = await compare(
    Object.entries(runtimes).map(([name, runtime]) => ({
      name,
      round: async (from: number, count: number) => {
        for (let index = 0; index < count; index += 1)
          await runtime.call(tool, { sku: `apple ${from + index}` }, { runId: `bench ${from}` });
      },
    })),
    { rounds: 120, count: 128, pick: "fastest" },
  );
  for (const runtime of Object.values(runtimes)) await runtime.close();
  const us = (name: string): number => times.get(name) ?? Number.NaN;
  const added = (what: string, name: string, target?: number): Row => ({
    what,
    value: us(name) - us("without"),
    unit: "µs",
    ...(target === undefined ? {} : { target }),
  });
  return [
    { what: "call without telemetry", value: us("without"), unit: "µs" },
    added("the same again, added (noise)", "again"),
    added("API and no SDK, added", "api", 5),
    added("SDK without exporters, added", "sdk"),
  ];
}
