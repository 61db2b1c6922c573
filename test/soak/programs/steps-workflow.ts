/** The workflow of a soak: the first orders one after the other, the others at the same time. */
import { z } from "zod";
import { createWorkflows } from "../../../src/index.ts";
import { jsx } from "../../../src/jsx-runtime.ts";
import type { WorkflowDefinition } from "../../../src/workflow/create-workflows.ts";
import type { Step } from "../plan.ts";
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
