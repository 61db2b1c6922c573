/**
 * Places three orders, or reverts them. Orders and cancellations are lines of a file. Arguments: the folder of the file and of
 * the store, and "revert" from the second start on.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { defineTool } from "../../../src/index.ts";
import { createCrashableRuntime, reachCrashPoint } from "../../../src/testing/index.ts";

const [folder = "", mode = ""] = process.argv.slice(2);
const note = (line: string): void => appendFileSync(join(folder, "effects.txt"), `${line}\n`);

const order = defineTool({
  name: "order",
  schema: z.object({ n: z.number() }),
  sideEffect: true,
  idempotent: false,
  execute: ({ n }, ctx) => note(`order ${n} ${ctx.idempotencyKey}`),
  revert: ({ n }, ctx) => {
    note(`cancel ${n} ${ctx.idempotencyKey}`);
    reachCrashPoint("in-effect");
  },
});

await using runtime = createCrashableRuntime({ store: join(folder, "runs.db"), tools: [order] });
if (mode === "revert") {
  const { reverted, left, failed, pending } = await runtime.revert({ runId: "r" });
  console.log([reverted, left, failed, pending].map(({ length }) => length).join());
} else {
  await runtime.run({ runId: "r" }, async () => {
    for (const n of [1, 2, 3]) await runtime.call(order, { n });
  });
}
