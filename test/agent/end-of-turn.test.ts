/** A process may die right after it has stored the answer of a turn: the run is over then, and nothing is left to resume. */
import { expect, test } from "vitest";
import { createRuntime } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { createWorld, never, watchStore } from "../semantics/harness.ts";
import { ask, createAgent, openRuntime } from "./harness.ts";

/** A store whose process dies after the commit that stores the result of a turn. */
function dyingStore(store: Store): { readonly store: Store; readonly died: Promise<void> } {
  const { promise: died, resolve: die } = Promise.withResolvers<void>();
  let isDead = false;
  const watched = watchStore(store, {
    onCommit: (statements) => {
      if (statements.some((sql) => sql.includes("toolwright_turns SET result_json"))) isDead = true;
    },
  });
  return {
    died,
    store: {
      ...watched,
      async transaction(work, level) {
        if (isDead) return never();
        const result = await watched.transaction(work, level);
        if (!isDead) return result;
        die();
        return never();
      },
    },
  };
}

test("a run is finished in the commit that stores the answer of its turn", async () => {
  const world = await createWorld();
  const { store, died } = dyingStore(await world.open());
  const { agent } = await createAgent(world, ["Hi."], { runtime: createRuntime({ store }) });
  await Promise.race([died, agent.invoke(ask("Hi.", "r"))]);
  const other = await openRuntime(world);
  const { runs } = await other.runs();
  expect(runs).toMatchObject([{ runId: "r", status: "finished", interrupted: false }]);
});
