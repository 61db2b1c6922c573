/** The cost of a task does not grow with the number of tasks. */
import { createSmithers, runWorkflow } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createStorePath } from "./harness.ts";

function many(count: number, group: "sequence" | "parallel", dbPath = createStorePath()) {
  const { Workflow, Task, Sequence, Parallel, smithers, outputs } = createSmithers(
    { n: z.number() },
    { dbPath },
  );
  return smithers(() => {
    const tasks = Array.from({ length: count }, (_, n) => (
      <Task id={`t${n}`} output={outputs.n}>
        {n % 2 === 0 ? n : () => n}
      </Task>
    ));
    return (
      <Workflow name="many">
        {group === "sequence" ? <Sequence>{tasks}</Sequence> : <Parallel>{tasks}</Parallel>}
      </Workflow>
    );
  });
}

it("ten thousand tasks in a sequence need no deep stack", { timeout: 240_000 }, async () => {
  const result = await runWorkflow(many(10_000, "sequence"));
  expect(result).toMatchObject({ status: "finished", output: 9_999 });
});

it("a thousand tasks in a parallel group finish", { timeout: 60_000 }, async () => {
  const result = await runWorkflow(many(1_000, "parallel"), { maxConcurrency: 50 });
  expect(result.status).toBe("finished");
  expect(result.outputs["n"]).toHaveLength(1_000);
});

it("a resume after a thousand finished tasks runs none of them", { timeout: 60_000 }, async () => {
  const dbPath = createStorePath();
  const stop = new AbortController();
  let ran = 0;
  const { Workflow, Task, smithers, outputs } = createSmithers({ n: z.number() }, { dbPath });
  const workflow = smithers(() => (
    <Workflow name="many">
      {Array.from({ length: 1_000 }, (_, n) => (
        <Task id={`t${n}`} output={outputs.n}>
          {() => {
            ran += 1;
            return n;
          }}
        </Task>
      ))}
      <Task id="end" output={outputs.n}>
        {() => {
          if (stop.signal.aborted) return 1_000;
          stop.abort();
          throw new Error("stopped");
        }}
      </Task>
    </Workflow>
  ));
  expect((await runWorkflow(workflow, { runId: "r", signal: stop.signal })).status).toBe("cancelled");
  await runWorkflow(workflow, { runId: "r", resume: true });
  expect(ran).toBe(1_000);
});

it.each([100, 400])("renders %d tasks again only when an output that it read has changed", async (count) => {
  const { Workflow, Task, smithers, outputs } = createSmithers(
    { n: z.number() },
    { dbPath: createStorePath() },
  );
  let renders = 0;
  const workflow = smithers((ctx) => {
    renders += 1;
    return (
      <Workflow name={ctx.outputMaybe("n", { nodeId: "t0" }) === undefined ? "started" : "resumed"}>
        {Array.from({ length: count }, (_, n) => (
          <Task id={`t${n}`} output={outputs.n}>
            {n}
          </Task>
        ))}
      </Workflow>
    );
  });
  expect((await runWorkflow(workflow)).status).toBe("finished");
  // Once for its name, once to start, once more when the output that it reads exists.
  expect(renders).toBe(3);
});
