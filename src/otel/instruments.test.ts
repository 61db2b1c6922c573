/** The units and boundaries that the GenAI conventions ask for. */
import { metrics } from "@opentelemetry/api";
import { expect, it } from "vitest";
import { createInstruments } from "./instruments.ts";

it("histograms have the boundaries of the conventions", () => {
  const seen: Record<string, unknown> = {};
  const meter = metrics.getMeter("none");
  createInstruments(
    Object.assign(Object.create(meter) as typeof meter, {
      createHistogram: (name: string, options: { unit?: string; advice?: object }) => {
        seen[name] = [options.unit, Object.values(options.advice ?? {})[0]];
        return meter.createHistogram(name);
      },
    }),
    async () => undefined,
  );
  const calls = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
  const agents = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
  const tokens = [
    1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
  ];
  expect(seen).toMatchObject({
    "gen_ai.execute_tool.duration": ["s", calls],
    "gen_ai.client.operation.duration": ["s", calls],
    "gen_ai.invoke_agent.duration": ["s", agents],
    "gen_ai.workflow.duration": ["s", [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200]],
    "gen_ai.client.token.usage": ["{token}", tokens],
  });
});
