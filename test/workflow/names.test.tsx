/** `createWorkflows` and `workflow` have the names of Smithers as aliases. */
import { expect, test } from "vitest";
import { z } from "zod";
import { createRuntime, createSmithers, createWorkflows, runWorkflow } from "toolwright";

const schemas = { output: z.object({ sum: z.number() }) };

test.each([
  ["createWorkflows", createWorkflows(schemas)],
  ["createSmithers", createSmithers(schemas)],
])("%s returns workflow and its alias smithers, and a run is the same with each", async (_name, made) => {
  const { Workflow, Task, outputs } = made;
  await using runtime = createRuntime({ store: ":memory:" });
  for (const define of [made.workflow, made.smithers]) {
    const sum = define(() => (
      <Workflow name="sum">
        <Task id="sum" output={outputs.output}>
          {() => ({ sum: 3 })}
        </Task>
      </Workflow>
    ));
    expect(await runWorkflow(sum, { runtime })).toMatchObject({ status: "finished", output: { sum: 3 } });
  }
});

test("an error names the function that the file calls", () => {
  expect(() => createWorkflows(undefined as never)).toThrow("createWorkflows needs an object of schemas");
  expect(() => createSmithers(undefined as never)).toThrow("createSmithers needs an object of schemas");
  expect(() => createSmithers(schemas, { dbpath: "a" } as never)).toThrow(
    'createSmithers: unknown option "dbpath"',
  );
  expect(() => createWorkflows(schemas).workflow(undefined as never)).toThrow("workflow() needs a function");
  expect(() => createWorkflows(schemas).smithers(undefined as never)).toThrow("smithers() needs a function");
});
