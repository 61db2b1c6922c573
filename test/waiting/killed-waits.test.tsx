/**
 * A worker that dies at a random commit of a run which sleeps and waits for a signal: before the commit, or right after it.
 * Another worker continues. No effect is lost or repeated, and the signal is used once.
 */
import {
  createRuntime,
  createWorker,
  createWorkflows,
  defineTool,
  type Store,
  type WorkflowDefinition,
} from "toolwright";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { openStore } from "../../src/store/open-store.ts";
import { all, change } from "../../src/store/statement.ts";
import { amount } from "../amount.ts";
import { Random } from "../random.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { until } from "../workflow/harness.ts";

const seed = Number(process.env["WAITS_SEED"] ?? Date.now() % 1_000_000);
const ROUNDS = amount(4, 40);
/** A run takes about so many commits. */
const MOST_COMMITS = 24;

interface Mortal {
  readonly store: Store;
  readonly died: Promise<void>;
}

/** A store that fails for good at this commit, as if its process had been killed there. */
function mortal(own: Store, point: number, isCommitted: boolean): Mortal {
  const death = Promise.withResolvers<void>();
  let commits = 0;
  let isDead = false;
  const assertAlive = (): void => {
    if (isDead) throw new Error("the process is dead");
  };
  const store: Store = {
    dialect: own.dialect,
    path: own.path,
    secret: own.secret,
    version: async () => {
      assertAlive();
      return (await own.version?.()) ?? "";
    },
    async transaction(work, level) {
      assertAlive();
      commits += 1;
      if (commits < point) return own.transaction(work, level);
      isDead = true;
      if (isCommitted) await own.transaction(work, level);
      death.resolve();
      throw new Error("the process is dead");
    },
    read(work) {
      assertAlive();
      return own.read(work);
    },
    close: () => Promise.resolve(),
  };
  return { store, died: death.promise };
}

test(`rule 41: workers that die at random commits of a wait (WAITS_SEED=${seed})`, async () => {
  // Dead workers say that their store fails.
  const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
  onTestFinished(() => said.mockRestore());
  const random = new Random(seed);
  for (let round = 0; round < ROUNDS; round += 1) {
    const point = 1 + random.below(MOST_COMMITS);
    await killAt(point, random.chance(0.5));
  }
});

async function killAt(point: number, isCommitted: boolean): Promise<void> {
  await using fresh = await STORE_KINDS[0].fresh();
  const keys: string[] = [];
  const note = defineTool({
    name: "note",
    schema: z.object({ step: z.string() }),
    sideEffect: true,
    execute: ({ step }, ctx) => {
      keys.push(`${step} ${ctx.idempotencyKey}`);
      return { step };
    },
  });
  const { Workflow, Task, Sleep, Signal, workflow, outputs } = createWorkflows({
    paid: z.object({ amount: z.number() }),
    step: z.object({ step: z.string() }),
  });
  const waiting = workflow(() => (
    <Workflow name="waiting">
      <Task id="first" output={outputs.step}>
        {() => note.call({ step: "first" })}
      </Task>
      <Sleep id="nap" for={20} />
      <Task id="second" output={outputs.step}>
        {() => note.call({ step: "second" })}
      </Task>
      <Signal id="paid" name="paid" output={outputs.paid} />
      <Task id="third" output={outputs.step}>
        {() => note.call({ step: "third" })}
      </Task>
    </Workflow>
  )) as WorkflowDefinition;
  const own = await openStore(fresh.address);
  const { store, died } = mortal(own, point, isCommitted);
  const first = createRuntime({ store });
  const dying = createWorker({ runtime: first, workflows: { waiting }, leaseMs: 2_000, drainMs: 0 });
  const operator = createRuntime({ store: fresh.address });
  const second = createRuntime({ store: fresh.address });
  const survivor = createWorker({ runtime: second, workflows: { waiting }, leaseMs: 2_000 });
  try {
    await operator.enqueue("waiting", { runId: "r" });
    const statusOf = async (): Promise<string> => (await operator.describeRun("r")).status;
    void dying.start().catch(() => undefined);
    let isOver = false;
    const takeOver = async (): Promise<void> => {
      await died;
      const { ownerId } = await hostOf(operator);
      await own.transaction(
        () => change("UPDATE toolwright_owners SET ended_at_ms = {now} WHERE id <> ?1", ownerId),
        "normal",
      );
      if (!isOver) await survivor.start();
    };
    void takeOver();
    await until(async () => {
      if ((await statusOf()) === "waiting-signal")
        await operator.signal("r", "paid", { amount: 7 }, { key: "k" });
      return (await statusOf()) === "finished";
    });
    isOver = true;
    const context = `commit ${point}, ${isCommitted ? "committed" : "not committed"}`;
    expect(new Set(keys).size, context).toBe(3);
    const used = await own.read(() =>
      all("SELECT node_id, refused_because FROM toolwright_signals WHERE settled_at_ms IS NOT NULL"),
    );
    expect(used, context).toEqual([{ node_id: "paid", refused_because: null }]);
    expect(await own.read(() => all("SELECT node_id FROM toolwright_waits")), context).toEqual([]);
  } finally {
    await survivor.drain();
    await dying.drain();
    await second.close();
    await operator.close();
    await first.close().catch(() => undefined);
    await own.close();
  }
}
