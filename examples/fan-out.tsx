/**
 * One agent for each file, two at a time, then a summary. The first task finds the files; then the tree is rendered again
 * with one task for each file. The agents use the built-in `grep` and `read`, which cannot leave the root of the run: the
 * folder of this file, so they read the examples. The model is scripted: it calls both tools and answers with their results.
 *
 * Run it with `npm run example fan-out`, which is: toolwright up examples/fan-out.tsx
 */
import assert from "node:assert/strict";
import { ToolLoopAgent } from "ai";
import { createSmithers, grep, read } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { z } from "zod";

const { Workflow, Task, Parallel, smithers, outputs } = createSmithers({
  files: z.array(z.string()),
  report: z.object({ file: z.string(), lines: z.int(), tasks: z.int() }),
  output: z.object({ files: z.int(), lines: z.int(), mostTasks: z.string() }),
});

let running = 0;
let mostRunning = 0;

const reader = new ToolLoopAgent({
  tools: { read, grep },
  model: createScriptedModel(
    [
      ({ turn, text, toolResults }) => {
        const [, path = ""] = /Look at (\S+)/.exec(text) ?? [];
        if (turn === 0) {
          running += 1;
          mostRunning = Math.max(mostRunning, running);
          return [
            { toolName: "read", input: { path } },
            { toolName: "grep", input: { pattern: "<Task ", path } },
          ];
        }
        running -= 1;
        const [content, tasks] = toolResults.map(({ output }) => linesOf(output).length);
        return JSON.stringify({ file: path, lines: content, tasks });
      },
    ],
    { atEnd: "repeat-last" },
  ),
});

function linesOf(output: unknown): string[] {
  return String(output)
    .split("\n")
    .filter((line) => line !== "");
}

export default smithers((ctx) => {
  const files = ctx.outputMaybe(outputs.files, { nodeId: "find" }) ?? [];
  return (
    <Workflow name="fan-out">
      <Task id="find" output={outputs.files}>
        {async () => {
          const found = linesOf(await grep.execute({ pattern: "createSmithers\\(" }));
          return [...new Set(found.map((line) => line.split(":")[0] ?? ""))].sort();
        }}
      </Task>
      <Parallel maxConcurrency={2}>
        {files.map((file) => (
          <Task id={`look at ${file}`} output={outputs.report} agent={reader}>
            {`Look at ${file} : how many lines and tasks does it have?`}
          </Task>
        ))}
      </Parallel>
      <Task id="summary" output={outputs.output} retries={0}>
        {() => {
          const reports = ctx.outputs.report;
          const [most] = reports.toSorted((one, other) => other.tasks - one.tasks);
          // What this example proves.
          assert.deepEqual(reports.map(({ file }) => file).toSorted(), files);
          assert.ok(files.length >= 4 && reports.every(({ lines, tasks }) => lines > tasks && tasks > 0));
          assert.ok(mostRunning <= 2, `${mostRunning} agents at a time`);
          return {
            files: reports.length,
            lines: reports.reduce((sum, { lines }) => sum + lines, 0),
            mostTasks: most?.file ?? "",
          };
        }}
      </Task>
    </Workflow>
  );
});
