/** An order in three steps, each of which charges an account at a service outside. */
import { createWorkflows, defineTool } from "toolwright";
import { z } from "zod";

const charge = defineTool({
  name: "charge",
  description: "Charges an account",
  schema: z.object({ order: z.string(), step: z.number() }),
  sideEffect: true,
  timeoutMs: 30_000,
  concurrency: { max: 2 }, // the service takes two requests at a time, from all workers together
  execute: async ({ order, step }, ctx) => {
    const response = await fetch(process.env["LEDGER_URL"] ?? "", {
      method: "POST",
      body: JSON.stringify({ order, step, key: ctx.idempotencyKey, worker: process.pid }),
      signal: ctx.signal,
    });
    return (await response.json()) as { receipt: number };
  },
});

const { Workflow, Task, workflow, outputs } = createWorkflows({
  input: z.object({ order: z.string() }),
  charged: z.object({ receipt: z.number() }),
});

export default workflow((ctx) => (
  <Workflow name="order" onChange="continue">
    {[1, 2, 3].map((step) => (
      <Task id={`charge-${step}`} output={outputs.charged}>
        {() => charge.call({ order: ctx.input.order, step })}
      </Task>
    ))}
  </Workflow>
));
