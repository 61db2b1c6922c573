/** Going back: how long a replay of a recorded run takes. */
import { join } from "node:path";
import { createRuntime, defineTool, type Runtime } from "toolwright";
import { recordRun, replayRun } from "toolwright/testing";
import { z } from "zod";
import type { Row } from "./bench.ts";
import { inFolder, median } from "./measure.ts";

const CALLS = 1_000;
const REPEATS = 5;

const step = defineTool({
  name: "step",
  schema: z.object({ index: z.number() }),
  sideEffect: true,
  idempotent: false,
  execute: async ({ index }, ctx) => ({ index, key: ctx.idempotencyKey }),
});

async function program({
  runtime,
  runId,
}: {
  readonly runtime: Runtime;
  readonly runId: string;
}): Promise<void> {
  await runtime.run({ runId }, async () => {
    for (let index = 0; index < CALLS; index += 1) await step.execute({ index });
  });
}

/** Each line of the section. */
const LINES: readonly ((folder: string) => Promise<Row>)[] = [replayOfCalls];

export function benchBack(): Promise<Row[]> {
  return inFolder(async (folder) => {
    const rows: Row[] = [];
    for (const line of LINES) rows.push(await line(folder));
    return rows;
  });
}

async function replayOfCalls(folder: string): Promise<Row> {
  await using runtime = createRuntime({
    store: join(folder, "back.db"),
    durability: "process",
    recording: "keep",
  });
  await program({ runtime, runId: "run" });
  const fixture = await recordRun(runtime, "run");
  const times: number[] = [];
  // The first one loads the modules.
  for (let repeat = 0; repeat <= REPEATS; repeat += 1) {
    const started = performance.now();
    const { diff } = await replayRun(fixture, { agent: program });
    if (diff.length > 0) throw new Error(`the replay differs: ${JSON.stringify(diff[0])}`);
    times.push(performance.now() - started);
  }
  return {
    what: `replay of ${CALLS} recorded calls`,
    value: median(times.slice(1)),
    unit: "ms",
    target: 100,
  };
}
