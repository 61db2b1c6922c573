/** The workflows of a soak: the first orders one after the other, the others at the same time. */
import { z } from "zod";
import { createWorkflows } from "../../../src/index.ts";
import { jsx } from "../../../src/jsx-runtime.ts";
import type { WorkflowDefinition } from "../../../src/workflow/create-workflows.ts";
import { BY_SIGNAL, type Step } from "../plan.ts";
import { type OrderTools, place } from "./soak-process.ts";

const step = z.object({ kind: z.enum(["keyed", "reconciled", "blind", "business"]), sku: z.string() });

export function createStepsWorkflow(name: string, tools: OrderTools): WorkflowDefinition {
  const { Workflow, Sequence, Parallel, Task, workflow, outputs } = createWorkflows({
    input: z.object({ steps: z.array(step) }),
    placed: z.object({ id: z.number().nullable() }),
  });
  const task = (one: Step): unknown =>
    jsx(Task, {
      id: one.sku.replaceAll(".", "-"),
      output: outputs.placed,
      children: async () => ({ id: await place(tools, one) }),
    });
  return workflow(({ input: { steps } }) =>
    jsx(Workflow, {
      name,
      children: jsx(Sequence, {
        children: [
          ...steps.slice(0, 2).map(task),
          ...(steps.length > 2 ? [jsx(Parallel, { children: steps.slice(2).map(task) })] : []),
        ] as never,
      }),
    }),
  );
}

export const ORDER_SIGNAL = "order";
const SLEEP_MS = 300;

/** It waits for a signal before each of the first orders, and for a time after it. */
export function createWaitingWorkflow(name: string, tools: OrderTools): WorkflowDefinition {
  const { Workflow, Sequence, Parallel, Task, Signal, Sleep, workflow, outputs } = createWorkflows({
    input: z.object({ steps: z.array(step) }),
    order: step,
    placed: z.object({ id: z.number().nullable() }),
  });
  const task = (id: string, one: Step | undefined): unknown =>
    jsx(Task, {
      id,
      output: outputs.placed,
      children: async () => ({ id: one === undefined ? null : await place(tools, one) }),
    });
  return workflow((ctx) =>
    jsx(Workflow, {
      name,
      children: jsx(Sequence, {
        children: [
          ...Array.from({ length: BY_SIGNAL }, (_, n) => [
            jsx(Signal, { id: `signal-${n}`, name: ORDER_SIGNAL, output: outputs.order }),
            task(`by-signal-${n}`, ctx.latest(outputs.order, `signal-${n}`)),
            jsx(Sleep, { id: `sleep-${n}`, for: SLEEP_MS }),
          ]).flat(),
          ...(ctx.input.steps.length > 0
            ? [
                jsx(Parallel, {
                  children: ctx.input.steps.map((one) => task(one.sku.replaceAll(".", "-"), one)),
                }),
              ]
            : []),
        ] as never,
      }),
    }),
  );
}
