/**
 * The owner of a run: one process at a time, as long as it is alive or its lease is valid. Real processes, really
 * stopped.
 */
import { describe, expect, test } from "vitest";
import { openShop, type Shop } from "../crash/shop.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { changeRows, rowsOf, until } from "./harness.ts";
import { type Steered, startSteered } from "./steered.ts";

const ROUNDS = Number(process.env["TOOLWRIGHT_CRASH_RUNS"] ?? 20);
const KILLED_ROUNDS = 3;

/** Longer than any process takes to start. */
const MORE_MS = 600_000;

const LEASE =
  "SELECT 1 AS held FROM toolwright_owners WHERE host = 'another host' AND lease_until_ms > {now}";

function ordersOf(shop: Shop, runId: string): string[] {
  return shop.ledger.map(({ sku }) => sku).filter((sku) => sku.startsWith(`${runId}-`));
}

/** Both resume at the same moment. The owner waits inside the run until the other has been refused. */
async function race(runId: string, both: readonly Steered[]): Promise<void> {
  const atMs = Date.now() + 15;
  for (const one of both) one.tell({ type: "run", runId, resume: true, atMs });
  const ends = both.map(async (one) => ({ one, ...(await one.next("ended")) }));
  const loser = await Promise.race(ends);
  expect(loser).toMatchObject({ runId, end: "TOOL_RUN_CONFLICT" });
  const winner = both.find((one) => one !== loser.one);
  await winner?.next("held");
  winner?.tell({ type: "release" });
  const results = await Promise.all(ends);
  expect(results.find(({ one }) => one === winner)).toMatchObject({ runId, end: "finished" });
}

describe.concurrent.each(STORE_KINDS)("on $name", (storeKind) => {
  test(
    "of two processes that resume a run at once one owns it, and the other is refused",
    { timeout: 120_000 + ROUNDS * 2_000 },
    async () => {
      await using store = await storeKind.fresh();
      await using shop = await openShop(0);
      await using left = await startSteered("left", store.address, shop.url);
      await using right = await startSteered("right", store.address, shop.url);
      for (let round = 1; round <= ROUNDS; round += 1) {
        const runId = `run-${round}`;
        if (round <= KILLED_ROUNDS) {
          await using killed = await startSteered("killed", store.address, shop.url);
          killed.tell({ type: "run", runId, resume: false });
          await killed.next("held");
          killed.child.kill("SIGKILL");
          await killed.ended();
        } else {
          left.tell({ type: "prepare", runId });
          expect(await left.next("ended")).toMatchObject({ end: "cancelled" });
        }
        await race(runId, round % 2 === 0 ? [left, right] : [right, left]);
        expect(ordersOf(shop, runId)).toEqual([`${runId}-first`, `${runId}-held`, `${runId}-last`]);
      }
      const epochs = await rowsOf(
        store.address,
        "SELECT DISTINCT epoch FROM toolwright_workflow_runs WHERE status = 'finished'",
      );
      expect(epochs).toEqual([{ epoch: 2 }]);
    },
  );

  test(
    "rule 27: a process that is stopped on this host keeps its run, however old its lease is",
    { timeout: 90_000 },
    async () => {
      await using store = await storeKind.fresh();
      await using shop = await openShop(0);
      await using stopped = await startSteered("stopped", store.address, shop.url);
      await using other = await startSteered("other", store.address, shop.url);
      stopped.tell({ type: "run", runId: "r", resume: false });
      await stopped.next("held");
      stopped.child.kill("SIGSTOP");
      expect(await other.resume("r")).toBe("TOOL_RUN_CONFLICT");
      await changeRows(store.address, "UPDATE toolwright_owners SET lease_until_ms = 0");
      expect(await other.resume("r")).toBe("TOOL_RUN_CONFLICT");
      stopped.child.kill("SIGCONT");
      stopped.tell({ type: "release" });
      expect(await stopped.next("ended")).toMatchObject({ end: "finished", by: Array(3).fill("stopped") });
      expect(ordersOf(shop, "r")).toEqual(["r-first", "r-held", "r-last"]);
    },
  );

  test.each(["while the other is working", "after the other has finished"])(
    "rules 26 and 27: a process that is stopped on another host loses its run with its lease: woken %s, it fails and cannot write",
    { timeout: 180_000 },
    async (moment) => {
      await using store = await storeKind.fresh();
      await using shop = await openShop(0);
      await using stopped = await startSteered("stopped", store.address, shop.url);
      stopped.tell({ type: "run", runId: "r", resume: false });
      await stopped.next("held");
      stopped.child.kill("SIGSTOP");
      // Other processes know the host from this row only. The lease is extended only until they have read it.
      await changeRows(
        store.address,
        `UPDATE toolwright_owners SET host = 'another host', lease_until_ms = lease_until_ms + ${MORE_MS}`,
      );
      await using other = await startSteered("other", store.address, shop.url);
      expect(await other.resume("r")).toBe("TOOL_RUN_CONFLICT");
      await changeRows(
        store.address,
        `UPDATE toolwright_owners SET lease_until_ms = lease_until_ms - ${MORE_MS} WHERE host = 'another host'`,
      );
      await until(async () => (await rowsOf(store.address, LEASE)).length === 0, 500);

      const wake = async (): Promise<void> => {
        stopped.child.kill("SIGCONT");
        expect(await stopped.next("signalled")).toMatchObject({ code: "TOOL_RUN_FENCED" });
        expect(await stopped.next("ended")).toMatchObject({ end: "TOOL_RUN_FENCED" });
      };
      const finished = other.resume("r");
      await other.next("held");
      if (moment.startsWith("while")) await wake();
      other.tell({ type: "release" });
      expect(await finished).toBe("finished");
      if (moment.startsWith("after")) await wake();

      const tasks = await rowsOf(store.address, "SELECT * FROM toolwright_tasks ORDER BY position");
      expect(tasks.map((row) => [row["node_id"], row["output_json"]])).toEqual([
        ["first", '{"by":"stopped"}'],
        ["held", '{"by":"other"}'],
        ["last", '{"by":"other"}'],
      ]);
      const [call] = await rowsOf(
        store.address,
        "SELECT status, output_json, late_json FROM toolwright_calls WHERE tool_name = 'hold'",
      );
      expect(call).toEqual({
        status: "success",
        output_json: '{"by":"other"}',
        late_json: '{"by":"stopped"}',
      });
      expect(ordersOf(shop, "r")).toEqual(["r-first", "r-held", "r-last"]);
    },
  );
});
