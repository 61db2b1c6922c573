/** The end of a task is never missed: what it makes possible starts immediately, whatever else of the run is going on. */
import { createRuntime, createSmithers, runWorkflow, type Store } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { openStore } from "../../src/store/open-store.ts";
import { settle, watchStore } from "../semantics/harness.ts";
import { createStorePath } from "./harness.ts";

/** The same store. The transaction that stores the end of a loop takes until `until` resolves. */
function slowLoopEnds(store: Store, onLoopEnd: () => Promise<void>): Store {
  let isLoopEnd = false;
  const watched = watchStore(store, {
    onStatement: (sql) => (isLoopEnd ||= sql.includes("INTO toolwright_loops")),
  });
  return {
    ...watched,
    async transaction(work, level) {
      const result = await watched.transaction(work, level);
      const mustWait = isLoopEnd;
      isLoopEnd = false;
      if (mustWait) await onLoopEnd();
      return result;
    },
  };
}

it("a task that ends while the end of a loop is stored starts what depends on it, although others run", async () => {
  const { Workflow, Task, Parallel, Loop, smithers, outputs } = createSmithers({
    pass: z.object({ n: z.number() }),
    quick: z.object({ n: z.number() }),
    long: z.object({ n: z.number() }),
    next: z.object({ n: z.number() }),
  });
  const loopEnds = Promise.withResolvers<void>();
  const quickEnded = Promise.withResolvers<void>();
  const nextStarted = Promise.withResolvers<void>();
  const opened = await openStore(createStorePath());
  const store = slowLoopEnds(opened, async () => {
    loopEnds.resolve();
    await quickEnded.promise;
    await settle();
  });
  const runtime = createRuntime({ store });
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Parallel>
        <Loop until>
          <Task id="pass" output={outputs.pass}>
            {{ n: 1 }}
          </Task>
        </Loop>
        <Task id="quick" output={outputs.quick}>
          {async () => {
            await loopEnds.promise;
            return { n: 2 };
          }}
        </Task>
        <Task id="long" output={outputs.long}>
          {async () => {
            await nextStarted.promise;
            return { n: 3 };
          }}
        </Task>
        {ctx.outputMaybe("quick", { nodeId: "quick" }) === undefined ? null : (
          <Task id="next" output={outputs.next}>
            {() => {
              nextStarted.resolve();
              return { n: 4 };
            }}
          </Task>
        )}
      </Parallel>
    </Workflow>
  ));
  const result = await runWorkflow(workflow, {
    runtime,
    onProgress: (event) => {
      if (event.type === "task-changed" && event.nodeId === "quick" && event.status === "finished")
        quickEnded.resolve();
    },
  });
  expect(result.status).toBe("finished");
  expect(result.outputs["next"]).toEqual([{ n: 4 }]);
  await runtime.close();
  await opened.close();
}, 20_000);
