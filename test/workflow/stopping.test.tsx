/** A run that must stop does so, even if its tasks ignore the signal. */
import { createRuntime, createSmithers, defineTool, runWorkflow, Task } from "toolwright";
import { expect, test } from "vitest";
import { z } from "zod";
import { createStorePath, until } from "./harness.ts";

test("a function that ignores the signal does not delay an abort, and its late call is refused", async () => {
  const effects: string[] = [];
  const send = defineTool({
    name: "send",
    schema: z.object({ to: z.string() }),
    sideEffect: true,
    async execute({ to }, ctx) {
      effects.push(`${to} ${ctx.attempt}`);
      return "sent";
    },
  });
  const deaf = Promise.withResolvers<void>();
  const late = Promise.withResolvers<unknown>();
  let starts = 0;
  const { Workflow, smithers, outputs } = createSmithers({ result: z.string() });
  const workflow = smithers(() => (
    <Workflow name="deaf">
      <Task id="deaf" output={outputs.result}>
        {async () => {
          starts += 1;
          if (starts > 1) return send.invoke({ to: "ann" });
          await deaf.promise;
          late.resolve(await send.invoke({ to: "ann" }).catch((error: unknown) => error));
          return "late";
        }}
      </Task>
    </Workflow>
  ));
  await using runtime = createRuntime({ store: createStorePath() });
  const stop = new AbortController();
  const options = { runtime, runId: "run-1" };
  const run = runWorkflow(workflow, { ...options, signal: stop.signal });
  await until(() => starts === 1);
  stop.abort();
  expect(await run).toMatchObject({ status: "cancelled" });
  deaf.resolve();
  expect(await late.promise).toBeInstanceOf(Error);
  expect(effects).toEqual([]);
  expect(await runWorkflow(workflow, { ...options, resume: true })).toMatchObject({
    status: "finished",
    output: "sent",
  });
  expect(effects).toEqual(["ann 1"]);
});
