/**
 * A writer and a reviewer take turns until the reviewer approves, at most five times. Each pass of the loop stores its own
 * draft and review: the writer reads the last review, the reviewer reads the draft of its pass. `<Ralph>` is another name
 * for `<Loop>`. The models are scripted; the reviewer knows two rules and names one at a time.
 *
 * Run it with `npm run example review-loop`, which is: toolwright up examples/review-loop.tsx
 */
import assert from "node:assert/strict";
import { ToolLoopAgent } from "ai";
import { createSmithers } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { z } from "zod";

const { Workflow, Task, Loop, smithers, outputs } = createSmithers({
  input: z.object({ topic: z.string().default("durable tools") }),
  draft: z.object({ text: z.string() }),
  review: z.object({ approved: z.boolean(), comment: z.string() }),
  output: z.object({ text: z.string(), passes: z.int() }),
});

const writer = new ToolLoopAgent({
  model: createScriptedModel(
    [
      ({ text }) => {
        const [, topic = ""] = /about (.*)\./.exec(text) ?? [];
        if (text.includes("Say why.")) return draft(`Use ${topic}: a crash repeats nothing.`);
        return draft(text.includes("too long") ? `Use ${topic}.` : `You should really try to use ${topic}.`);
      },
    ],
    { atEnd: "repeat-last" },
  ),
});

const reviewer = new ToolLoopAgent({
  model: createScriptedModel(
    [
      ({ text }) => {
        if (text.includes("really")) return review(false, "It is too long.");
        return text.includes(": a crash") ? review(true, "Good.") : review(false, "Say why.");
      },
    ],
    { atEnd: "repeat-last" },
  ),
});

function draft(text: string): string {
  return JSON.stringify({ text });
}

function review(approved: boolean, comment: string): string {
  return JSON.stringify({ approved, comment });
}

export default smithers((ctx) => {
  const last = ctx.latest(outputs.review, "review");
  return (
    <Workflow name="review-loop">
      <Loop until={last?.approved === true} maxIterations={5} onMaxReached="fail">
        <Task id="write" output={outputs.draft} agent={writer}>
          {`Write one line about ${ctx.input.topic}.\n${last === undefined ? "" : `The last review: ${last.comment}`}`}
        </Task>
        <Task id="review" output={outputs.review} agent={reviewer} deps={{ write: outputs.draft }}>
          {({ write }) => `Review this draft:\n${write.text}`}
        </Task>
      </Loop>
      <Task id="result" output={outputs.output} retries={0}>
        {() => {
          const comments = ctx.outputs.review.map(({ comment }) => comment);
          const text = ctx.output(outputs.draft, { nodeId: "write" }).text;
          // What this example proves.
          assert.deepEqual(comments, ["It is too long.", "Say why.", "Good."]);
          assert.equal(text, `Use ${ctx.input.topic}: a crash repeats nothing.`);
          return { text, passes: comments.length };
        }}
      </Task>
    </Workflow>
  );
});
