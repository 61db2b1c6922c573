/** Starts runs of several kinds whose calls never end. The test kills this process. */
import { createRuntime, createSmithers, defineTool, runWorkflow } from "../../../src/index.ts";
import { jsx } from "../../../src/jsx-runtime.ts";
import { z } from "zod";

const [, , store = ""] = process.argv;
const runtime = createRuntime({ store });
let atWork = 0;
const hang = defineTool({
  name: "hang",
  schema: z.object({}),
  sideEffect: true,
  idempotent: false,
  execute: (_args, ctx) => {
    atWork += 1;
    if (atWork === 3) console.log(`at work ${ctx.idempotencyKey}`);
    return new Promise<string>(() => undefined);
  },
});

const { Workflow, Task, smithers, outputs } = createSmithers({ out: z.any() }, { dbPath: ":memory:" });
const workflow = smithers(() =>
  jsx(Workflow, {
    name: "orders",
    children: [
      jsx(Task, { id: "first", output: outputs.out, children: () => runtime.call(hang, {}) }),
      jsx(Task, { id: "second", output: outputs.out, children: () => "later" }),
    ],
  }),
);

void runWorkflow(workflow, { runId: "workflow", runtime });
void runtime.run({ runId: "program" }, () => runtime.call(hang, {}));
void runtime.call(hang, {}, { runId: "bare" });
setInterval(() => undefined, 1_000);
