/** Scopes and owners: only the current owner may write. */
import assert from "node:assert/strict";
import { insertCall } from "../../store/tables/write-calls.ts";
import { endOwner, LEASE_MS, readOwner, registerOwner, renewLease } from "../../store/tables/owners.ts";
import {
  ensureScope,
  findScope,
  keysOfScope,
  readScope,
  releaseScope,
  takeScope,
} from "../../store/tables/scopes.ts";
import { commit, inEach, type StoreCase } from "./contract-case.ts";
import { openScope, sampleCall, SCOPE, writerOf } from "./sample-rows.ts";

export const scopeCases: readonly StoreCase[] = [
  {
    name: "creates a scope once, and a separate one for another path or parent",
    run: async ({ store }) => {
      assert.equal(await store.read(() => findScope(SCOPE)), undefined);
      const scope = await openScope(store);
      const fresh = { attempt: 1, epoch: 1, ownerId: null, originId: null, keyVersion: 2, isSealed: false };
      assert.deepEqual(scope, { id: scope.id, ...fresh });
      assert.deepEqual(await openScope(store), scope);
      assert.deepEqual(await store.read(() => readScope(scope.id)), scope);
      const others = [
        await openScope(store, 1, { ...SCOPE, path: "1" }),
        await openScope(store, 1, { ...SCOPE, parentKey: "key-1" }),
        await openScope(store, 1, { ...SCOPE, nodeId: "other" }),
        await openScope(store, 1, { ...SCOPE, runId: "run-2" }),
      ];
      assert.equal(new Set([scope, ...others].map(({ id }) => id)).size, 5);
    },
  },
  {
    name: "moves a scope to a later attempt, never back",
    run: async ({ store }) => {
      await openScope(store);
      assert.equal((await openScope(store, 3)).attempt, 3);
      assert.equal((await openScope(store, 2)).attempt, 3);
    },
  },
  {
    name: "raises the epoch with every owner, and lets only the current owner release the scope",
    run: async ({ store }) => {
      const { id } = await openScope(store);
      const first = await commit(store, () => takeScope(id, "owner-1"));
      const second = await commit(store, () => takeScope(id, "owner-2"));
      assert.equal(second, first + 1);
      await commit(store, () => releaseScope(id, first));
      assert.equal((await store.read(() => readScope(id)))?.ownerId, "owner-2");
      await commit(store, () => releaseScope(id, second));
      assert.equal((await store.read(() => readScope(id)))?.ownerId, null);
    },
  },
  {
    name: "creates a scope once when two stores request it at the same time",
    needsSharing: true,
    run: async ({ store, open }) => {
      const stores = [store, await open(), await open()];
      const scopes = await inEach(stores, () => ensureScope(SCOPE, 1, 1_000));
      assert.equal(new Set(scopes.map(({ id }) => id)).size, 1);
    },
  },
  {
    name: "knows the keys of a scope's calls",
    run: async ({ store }) => {
      const scope = await openScope(store);
      const other = await openScope(store, 1, { ...SCOPE, path: "1" });
      await commit(store, () => insertCall(sampleCall(scope), writerOf(scope)));
      await commit(store, () => insertCall(sampleCall(other, { key: "key-2" }), writerOf(other)));
      assert.deepEqual(await store.read(() => keysOfScope(scope.id)), new Set(["key-1"]));
    },
  },
  {
    name: "keeps owners with a lease by the store's clock, until they end",
    run: async ({ store }) => {
      assert.equal(await store.read(() => readOwner("owner-1")), undefined);
      const owner = { id: "owner-1", host: "host", pid: 42, processStart: "7" };
      await commit(store, () => registerOwner(owner));
      const read = await store.read(() => readOwner("owner-1"));
      const { leaseLeftMs = -1, ...rest } = read ?? {};
      assert.deepEqual(rest, { ...owner, ended: false, isWorker: false });
      assert.ok(leaseLeftMs > 0 && leaseLeftMs <= LEASE_MS);
      await commit(store, () => renewLease("owner-1"));
      await commit(store, () => endOwner("owner-1"));
      assert.equal((await store.read(() => readOwner("owner-1")))?.ended, true);
    },
  },
];
