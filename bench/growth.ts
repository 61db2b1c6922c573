/** Cost must not grow with history: time per call, memory and file size as the log grows to 100,000 calls. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { createRuntime, defineTool } from "toolwright";
import { z } from "zod";
import type { Row } from "./bench.ts";
import { inFolder } from "./measure.ts";

const step = defineTool({
  name: "step",
  schema: z.object({ index: z.number() }),
  sideEffect: true,
  idempotent: true,
  execute: async ({ index }) => ({ index }),
});

const STEPS = [10_000, 50_000, 100_000];

export function benchGrowth(): Promise<Row[]> {
  return inFolder(async (folder) => {
    const store = join(folder, "growth.db");
    await using runtime = createRuntime({ store, durability: "process" });
    const rows: Row[] = [];
    let made = 0;
    let firstUs = 0;
    let firstBytes = 0;
    for (const total of STEPS) {
      const from = made;
      const started = performance.now();
      // Like agents: many tasks of a hundred calls each.
      for (let first = from; first < total; first += 100) {
        await runtime.run({ runId: "growth", nodeId: `task ${first}` }, async () => {
          for (let index = first; index < first + 100; index += 1) await step.execute({ index });
        });
      }
      made = total;
      const us = ((performance.now() - started) * 1_000) / (made - from);
      const bytes = (statSync(store).size + statSync(`${store}-wal`).size) / made;
      firstUs ||= us;
      firstBytes ||= bytes;
      globalThis.gc?.();
      rows.push(
        { what: `time per call, up to ${total} calls`, value: us, unit: "µs", ratio: us / firstUs },
        { what: `file per call, at ${total} calls`, value: bytes, unit: "bytes", ratio: bytes / firstBytes },
        {
          what: `resident memory, at ${total} calls`,
          value: process.memoryUsage.rss() / 1_048_576,
          unit: "MB",
        },
      );
    }
    return rows;
  });
}
