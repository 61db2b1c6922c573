/** The marker that makes a run ready for a worker: who sets it, who clears it, and in which order runs are taken. */
import { expect, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { all } from "../../src/store/statement.ts";
import type { Store } from "../../src/store/store.ts";
import { insertQueuedRun, markReady, promoteDue, type QueuedRun } from "../../src/store/tables/queue.ts";
import { cancelRun, endRun, readRun, takeRun } from "../../src/store/tables/workflow-runs.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const RUN: QueuedRun = {
  runId: "a",
  kind: "workflow",
  name: "order",
  inputJson: "{}",
  optionsJson: "{}",
  createdAtMs: 1,
  startAtMs: null,
  priority: 0,
};

const LATER = 32_503_680_000_000;

async function markers(store: Store): Promise<unknown[]> {
  const rows = await store.read(() =>
    all(`SELECT id, state, is_due, CASE WHEN ready_at_ms IS NULL THEN 0 ELSE 1 END AS ready FROM toolwright_runs
         ORDER BY priority DESC, position`),
  );
  return rows.map((row) => [row["id"], row["state"], row["ready"], row["is_due"]]);
}

for (const kind of STORE_KINDS) {
  test(`on ${kind.name}, enqueueing marks a run, and taking or ending it clears the mark`, async () => {
    await using fresh = await kind.fresh();
    const store = await openStore(fresh.address);
    try {
      const write = <T>(work: Parameters<typeof store.transaction<T>>[0]): Promise<T> =>
        store.transaction(work, "normal");
      expect(await write(() => insertQueuedRun(RUN))).toBe(true);
      expect(await write(() => insertQueuedRun({ ...RUN, kind: "program" }))).toBe(false);
      await write(() => insertQueuedRun({ ...RUN, runId: "b", kind: "agent", priority: 5 }));
      await write(() => insertQueuedRun({ ...RUN, runId: "c", startAtMs: LATER }));
      expect(await markers(store)).toEqual([
        ["b", "queued", 1, 1],
        ["a", "queued", 1, 1],
        ["c", "queued", 1, 0],
      ]);
      expect(await write(promoteDue)).toBe(0);
      // The earliest time counts, and a later one does not replace it.
      await write(() => markReady("c"));
      await write(() => markReady("c", LATER));
      expect(await markers(store)).toContainEqual(["c", "queued", 1, 1]);

      const next = { ownerId: "me", shape: "s", file: null, optionsJson: "{}", updatedAtMs: 2 };
      const stored = await store.read(() => readRun("a"));
      if (stored === undefined) throw new Error("not stored");
      expect(await write(() => takeRun(stored, next))).toEqual({ kind: "taken", epoch: 1 });
      expect(await markers(store)).toContainEqual(["a", "running", 0, 0]);
      // A decision arrives while the run still works: it must not be lost.
      await write(() => markReady("a"));
      await write(() => endRun("a", 1, { status: "waiting-approval", errorJson: null, nowMs: 3 }));
      expect(await markers(store)).toContainEqual(["a", "waiting-approval", 1, 1]);
      const again = await store.read(() => readRun("a"));
      if (again === undefined) throw new Error("not stored");
      await write(() => takeRun(again, next));
      await write(() => markReady("a"));
      await write(() => endRun("a", 2, { status: "finished", errorJson: null, nowMs: 4 }));
      expect(await markers(store)).toContainEqual(["a", "finished", 0, 0]);
      expect(await write(() => markReady("a"))).toBe(0);

      await write(() => cancelRun("c", undefined, 5));
      expect(await markers(store)).toContainEqual(["c", "cancelled", 0, 0]);
    } finally {
      await store.close();
    }
  });
}
