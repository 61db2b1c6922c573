/** A worker whose program waits before it opens its run, and then appends to a file. */
import { appendFileSync } from "node:fs";
import { createRuntime, createWorker, defineTool } from "toolwright";
import { z } from "zod";

export interface SlowStartInput {
  readonly store: string;
  readonly ledger: string;
}

const { store, ledger } = JSON.parse(process.argv[2] ?? "") as SlowStartInput;
const note = defineTool({
  name: "note",
  description: "Notes",
  schema: z.object({ text: z.string() }),
  sideEffect: true,
  execute: ({ text }, _ctx) => appendFileSync(ledger, `${text}\n`),
});
const runtime = createRuntime({ store });
const worker = createWorker({
  runtime,
  programs: {
    report: async ({ runId }) => {
      console.log("claimed");
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      await runtime.run({ runId }, () => note.execute({ text: "worker" }));
    },
  },
});
await worker.start();
console.log("started");
