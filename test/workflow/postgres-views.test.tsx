/** Views of outputs on PostgreSQL: in several schemas, and created concurrently. */
import { createSmithers, runWorkflow } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { freshPostgresSchema } from "../postgres/fresh-postgres.ts";
import { rowsOf } from "./harness.ts";

function createPlaces(store: string, at: string) {
  const place = z.object({ at: z.string() });
  const { Workflow, Task, smithers, outputs } = createSmithers({ place, output: place }, { store });
  return smithers(() => (
    <Workflow name="w">
      <Task id="t" output={outputs.place}>
        {{ at }}
      </Task>
    </Workflow>
  ));
}

it("stores in schemas of one database each have their own, with the same names", async () => {
  for (const at of ["here", "there"]) {
    const store = await freshPostgresSchema();
    await runWorkflow(createPlaces(store, at));
    expect(await rowsOf(store, "SELECT at FROM place")).toEqual([{ at }]);
  }
});

it("runs that start concurrently in an empty store create them once, and all continue", async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  for (let round = 0; round < 4; round += 1) {
    const store = await freshPostgresSchema();
    const ends = await Promise.all(names.map((at) => runWorkflow(createPlaces(store, at))));
    expect(ends.map(({ status }) => status)).toEqual(names.map(() => "finished"));
    const places = await rowsOf(store, "SELECT at FROM place ORDER BY at");
    expect(places.map((row) => row["at"])).toEqual(names);
  }
});
