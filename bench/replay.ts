/** How long a resume takes to replay logged calls. */
import { join } from "node:path";
import { createRuntime, defineTool } from "toolwright";
import { z } from "zod";
import type { Row } from "./bench.ts";
import { inFolder, median } from "./measure.ts";

const step = defineTool({
  name: "step",
  schema: z.object({ index: z.number() }),
  sideEffect: true,
  idempotent: false,
  execute: async ({ index }, ctx) => ({ index, key: ctx.idempotencyKey }),
});

const REPEATS = 5;

export function benchReplay(): Promise<Row[]> {
  return inFolder(async (folder) => {
    const rows: Row[] = [];
    for (const count of [1_000, 10_000]) {
      const store = join(folder, `replay-${count}.db`);
      const pass = async (): Promise<number> => {
        await using runtime = createRuntime({ store, durability: "process" });
        await runtime.ready();
        const started = performance.now();
        await runtime.run({ runId: "replay" }, async () => {
          for (let index = 0; index < count; index += 1) await step.execute({ index });
        });
        return performance.now() - started;
      };
      await pass();
      const times: number[] = [];
      for (let repeat = 0; repeat < REPEATS; repeat += 1) times.push(await pass());
      rows.push({
        what: `replay of ${count} calls`,
        value: median(times),
        unit: "ms",
        target: (50 * count) / 1_000,
      });
    }
    return rows;
  });
}
