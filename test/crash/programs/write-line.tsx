/** A workflow that writes one line. Arguments: the folder of the line and of the store, and "resume" from the second start on. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createSmithers, defineTool, runWorkflow } from "toolwright";
import { createCrashableRuntime } from "toolwright/testing";
import { z } from "zod";

const [folder = "", resume = ""] = process.argv.slice(2);

const writeLine = defineTool({
  name: "write_line",
  schema: z.object({ text: z.string() }),
  sideEffect: true,
  idempotent: false,
  execute: ({ text }, ctx) => {
    ctx.log.info(ctx.idempotencyKey);
    appendFileSync(join(folder, "lines.txt"), `${text}\n`);
    return { text };
  },
});

const { Workflow, Task, smithers, outputs } = createSmithers({ line: z.object({ text: z.string() }) });
const workflow = smithers(() => (
  <Workflow name="line">
    <Task id="write" output={outputs.line}>
      {() => writeLine.execute({ text: "hello" })}
    </Task>
  </Workflow>
));

await using runtime = createCrashableRuntime({ store: join(folder, "runs.db") });
const { status } = await runWorkflow(workflow, { runtime, runId: "r", resume: resume === "resume" });
console.log(status);
