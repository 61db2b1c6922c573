/** Stores that share a PostgreSQL database, each in a schema of its own. */
import { createSmithers, runWorkflow } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { freshPostgresSchema } from "../postgres/fresh-postgres.ts";
import { rowsOf } from "./harness.ts";

it("have each their own views of outputs, under the same names", async () => {
  for (const at of ["here", "there"]) {
    const store = await freshPostgresSchema();
    const { Workflow, Task, smithers, outputs } = createSmithers(
      { place: z.object({ at: z.string() }) },
      { store },
    );
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" output={outputs.place}>
          {{ at }}
        </Task>
      </Workflow>
    ));
    await runWorkflow(workflow);
    expect(await rowsOf(store, "SELECT at FROM place")).toEqual([{ at }]);
  }
});
