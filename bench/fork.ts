/** How long it takes to fork a run, and to say what a revert would do. */
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
  revert: async () => undefined,
});

const CALLS = 1_000;
const REPEATS = 7;

export function benchFork(): Promise<Row[]> {
  return inFolder(async (folder) => {
    await using runtime = createRuntime({
      store: join(folder, "fork.db"),
      durability: "process",
      tools: [step],
    });
    const failing = runtime.run({ runId: "parent" }, async () => {
      for (let index = 0; index < CALLS; index += 1) await step.execute({ index });
      throw new Error("stop");
    });
    await failing.catch(() => undefined);
    const times = { fork: [] as number[], revert: [] as number[] };
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      const started = performance.now();
      await runtime.fork({ runId: "parent" });
      times.fork.push(performance.now() - started);
    }
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      const started = performance.now();
      await runtime.revert({ runId: "parent", dryRun: true });
      times.revert.push(performance.now() - started);
    }
    return [
      { what: `fork of ${CALLS} calls`, value: median(times.fork), unit: "ms", target: 50 },
      { what: `dry run of a revert of ${CALLS} calls`, value: median(times.revert), unit: "ms" },
    ];
  });
}
