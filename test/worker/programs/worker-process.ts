/**
 * A worker in its own process. It serves a workflow of steps, each of which charges an account at a service outside of
 * this process. Takes one argument, in JSON. Prints a line when it has started and when it has drained.
 */
import { z } from "zod";
import { createRuntime, createSmithers, createWorker, defineTool } from "../../../src/index.ts";
import { jsx } from "../../../src/jsx-runtime.ts";

export interface WorkerProcessInput {
  readonly store: string;
  readonly ledgerUrl: string;
  readonly leaseMs: number;
  readonly drainMs?: number;
  readonly concurrency?: number;
}

const input = JSON.parse(process.argv[2] ?? "") as WorkerProcessInput;

const charge = defineTool({
  name: "charge",
  schema: z.object({ run: z.string(), step: z.number() }),
  sideEffect: true,
  execute: async ({ run, step }, ctx) => {
    const body = JSON.stringify({ run, step, key: ctx.idempotencyKey, pid: process.pid });
    const response = await fetch(input.ledgerUrl, { method: "POST", body });
    return (await response.json()) as { receipt: number };
  },
});

const { Workflow, Task, smithers, outputs } = createSmithers({
  input: z.object({ steps: z.number() }),
  charged: z.object({ receipt: z.number() }),
});

const steps = smithers((ctx) =>
  jsx(Workflow, {
    name: "steps",
    children: Array.from({ length: ctx.input.steps }, (_, step) =>
      jsx(Task, {
        id: `step-${step}`,
        output: outputs.charged,
        children: () => charge.execute({ run: ctx.runId, step }),
      }),
    ),
  }),
);

const { Workflow: Fatal, Task: FatalTask, smithers: fatal } = createSmithers({});
const poison = fatal(() =>
  jsx(Fatal, { name: "poison", children: jsx(FatalTask, { id: "die", children: () => process.exit(7) }) }),
);

await using runtime = createRuntime({ store: input.store });
const worker = createWorker({
  runtime,
  workflows: { steps, poison },
  leaseMs: input.leaseMs,
  drainMs: input.drainMs,
  concurrency: input.concurrency,
});
await worker.start();
console.log("started");
const stopped = Promise.withResolvers<void>();
process.once("SIGTERM", () => stopped.resolve());
await stopped.promise;
await worker.drain();
console.log("drained");
