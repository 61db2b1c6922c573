/** Sleeps, then waits for an answer. Run by `waiting.ts`. */
import { createWorkflows } from "toolwright";
import { z } from "zod";

const { Workflow, Task, Sleep, Signal, workflow, outputs } = createWorkflows({
  answer: z.object({ yes: z.boolean() }),
  output: z.object({ text: z.string() }),
});

export default workflow((ctx) => (
  <Workflow name="reminder">
    <Sleep id="nap" for="1s" />
    <Signal id="answer" name="answer" output={outputs.answer} timeoutMs={86_400_000} onTimeout="continue" />
    <Task id="report" output={outputs.output}>
      {{ text: ctx.latest(outputs.answer, "answer")?.yes === true ? "accepted" : "no answer" }}
    </Task>
  </Workflow>
));
