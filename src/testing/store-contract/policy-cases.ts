/** Rows of policies: business keys, budgets, breakers, cached outputs. */
import assert from "node:assert/strict";
import { countFailure, countSuccess, readBreaker, takeProbe } from "../../store/tables/breakers.ts";
import { readCache, writeCache } from "../../store/tables/cache.ts";
import { type Claim, releaseClaim, takeClaim } from "../../store/tables/claims.ts";
import { readClaimedCall } from "../../store/tables/recorded-calls.ts";
import {
  addUsage,
  holdersOfReservations,
  peekUsage,
  readReservations,
  readUsage,
  releaseReservation,
  releaseReservationsOf,
  reserve,
  spendReservation,
} from "../../store/tables/usage.ts";
import { changesInEach, commit, type StoreCase } from "./contract-case.ts";

const CLAIM: Claim = {
  idempotencyKey: "business",
  toolName: "order",
  argsHash: "hash-1",
  scopeId: 1,
  callKey: "key-1",
  attempt: 1,
};

export const policyCases: readonly StoreCase[] = [
  {
    name: "gives a business key to one call, and moves it only from the call that was checked",
    run: async ({ store }) => {
      const take = (claim: Claim, from?: Claim): Promise<number> =>
        commit(store, () => takeClaim(claim, from));
      const other = { ...CLAIM, callKey: "key-2" };
      assert.equal(await store.read(() => readClaimedCall("business")), undefined);
      assert.equal(await take(CLAIM), 1);
      assert.equal(await take(other), 0);
      assert.equal(await take(other, { ...CLAIM, attempt: 2 }), 0);
      assert.equal(await take(other, CLAIM), 1);
      assert.equal(await take({ ...CLAIM, callKey: "key-3" }, CLAIM), 0);
      assert.deepEqual((await store.read(() => readClaimedCall("business")))?.held, {
        ...other,
        deleted: undefined,
      });
    },
  },
  {
    name: "frees a business key only for the call that holds it",
    run: async ({ store }) => {
      await commit(store, () => takeClaim(CLAIM, undefined));
      assert.equal(await commit(store, () => releaseClaim("business", "key-2")), 0);
      assert.equal(await commit(store, () => releaseClaim("business", "key-1")), 1);
      assert.equal(await store.read(() => readClaimedCall("business")), undefined);
    },
  },
  {
    name: "gives a business key to one of several stores that claim it at the same time",
    needsSharing: true,
    run: async ({ store, open }) => {
      const stores = [store, await open(), await open()];
      assert.equal(await changesInEach(stores, () => takeClaim(CLAIM, undefined)), 1);
    },
  },
  {
    name: "adds up what a run uses, and remembers the most of one call",
    run: async ({ store }) => {
      assert.equal(await store.read(() => peekUsage("run-1", "bytes")), undefined);
      assert.deepEqual(await commit(store, () => readUsage("run-1", "bytes")), { used: 0, peak: 0 });
      for (const amount of [3, 0.5, 2]) await commit(store, () => addUsage("run-1", "bytes", amount));
      assert.deepEqual(await store.read(() => peekUsage("run-1", "bytes")), { used: 5.5, peak: 3 });
      assert.equal(await store.read(() => peekUsage("run-2", "bytes")), undefined);
    },
  },
  {
    name: "holds reservations by call, until they are released or their owner is gone",
    run: async ({ store }) => {
      const hold = (callKey: string, ownerId: string, amount: number): Promise<number> =>
        commit(store, () => reserve("run-1", "usd", { callKey, ownerId, amount }));
      const held = async (): Promise<unknown[]> =>
        (await store.read(() => readReservations("run-1", "usd")))
          .map(({ callKey, amount }) => `${callKey} ${amount}`)
          .sort();
      await hold("key-1", "owner-1", 1);
      await hold("key-1", "owner-1", 2);
      await hold("key-2", "owner-2", 0.25);
      await hold("key-3", "owner-2", 4);
      assert.deepEqual(await held(), ["key-1 2", "key-2 0.25", "key-3 4"]);
      const holders = (await store.read(holdersOfReservations)).map((one) => `${one.ownerId} ${one.callKey}`);
      assert.deepEqual(holders.toSorted(), ["owner-1 key-1", "owner-2 key-2", "owner-2 key-3"]);
      await commit(store, () => spendReservation("run-1", "usd", "key-3", 1.5));
      await commit(store, () => spendReservation("run-1", "usd", "key-2", 9));
      assert.deepEqual(await held(), ["key-1 2", "key-2 0", "key-3 2.5"]);
      assert.equal(await commit(store, () => releaseReservation("run-1", "usd", "key-3")), 1);
      assert.equal(await commit(store, () => releaseReservation("run-1", "other", "key-1")), 0);
      const release = (ownerId: string, callKey: string): Promise<number> =>
        commit(store, () => releaseReservationsOf(callKey, ownerId));
      assert.equal(await release("owner-1", "key-2"), 0);
      assert.equal(await release("owner-2", "key-2"), 1);
      assert.deepEqual(await held(), ["key-1 2"]);
    },
  },
  {
    name: "opens a breaker at its threshold, allows one probe at a time, and closes it on success",
    run: async ({ store }) => {
      const fail = (): Promise<{ opened: boolean }> =>
        commit(store, () => countFailure("", "order", 2, 1_000));
      const probe = (now: number): Promise<number> =>
        commit(store, () => takeProbe("", "order", now, now + 100));
      assert.equal(await store.read(() => readBreaker("", "order")), undefined);
      assert.deepEqual(await fail(), { opened: false });
      assert.equal(await probe(1_000), 0);
      assert.deepEqual(await fail(), { opened: true });
      assert.deepEqual(await store.read(() => readBreaker("", "order")), {
        failures: 2,
        openedAtMs: 1_000,
        probeUntilMs: null,
      });
      assert.deepEqual([await probe(2_000), await probe(2_050), await probe(2_100)], [1, 0, 1]);
      // A call that was in flight when the breaker opened does not close it.
      await commit(store, () => countSuccess("", "order", false));
      assert.equal((await store.read(() => readBreaker("", "order")))?.failures, 2);
      await commit(store, () => countSuccess("", "order", true));
      assert.deepEqual(await store.read(() => readBreaker("", "order")), {
        failures: 0,
        openedAtMs: null,
        probeUntilMs: null,
      });
      assert.equal(await store.read(() => readBreaker("run-1", "order")), undefined);
    },
  },
  {
    name: "opens a breaker with a threshold of one at the first failure",
    run: async ({ store }) => {
      const { opened } = await commit(store, () => countFailure("run-1", "order", 1, 1_000));
      assert.equal(opened, true);
      assert.equal((await store.read(() => readBreaker("run-1", "order")))?.openedAtMs, 1_000);
    },
  },
  {
    name: "gives the probe of a breaker to one of several stores that request it at the same time",
    needsSharing: true,
    run: async ({ store, open }) => {
      await commit(store, () => countFailure("", "order", 1, 1_000));
      const stores = [store, await open(), await open()];
      assert.equal(await changesInEach(stores, () => takeProbe("", "order", 2_000, 3_000)), 1);
    },
  },
  {
    name: "keeps cached answers until they expire, separately for each run and tool",
    run: async ({ store }) => {
      const key = { runId: "run-1", toolName: "weather", cacheKey: "bern" };
      const read = (nowMs: number, runId = "run-1"): Promise<string | undefined> =>
        store.read(() => readCache({ ...key, runId }, nowMs));
      assert.equal(await read(0), undefined);
      await commit(store, () => writeCache(key, "old", null));
      await commit(store, () => writeCache(key, "new", 5_000));
      assert.deepEqual(
        [await read(4_999), await read(5_000), await read(0, "")],
        ["new", undefined, undefined],
      );
    },
  },
];
