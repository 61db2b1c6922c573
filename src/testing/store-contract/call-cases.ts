/** Rows of calls: one per key and attempt, written only by the current owner. */
import assert from "node:assert/strict";
import { changeBy } from "../../store/statement.ts";
import {
  callsAnywhere,
  callsByKey,
  highestSeq,
  highestSeqOfTask,
  type CallRow,
} from "../../store/tables/calls.ts";
import {
  closeCall,
  finishCall,
  insertCall,
  insertStarted,
  markUnknown,
  moveToAttempt,
  recordLate,
  startAgain,
} from "../../store/tables/write-calls.ts";
import { readPayload, savePayload } from "../../store/tables/payloads.ts";
import { hasUnreadKey } from "../../store/tables/key-reads.ts";
import type { Store } from "../../store/store.ts";
import { takeScope } from "../../store/tables/scopes.ts";
import { changesInEach, commit, type StoreCase } from "./contract-case.ts";
import { openScope, sampleCall, sampleEnd, SCOPE, writerOf } from "./sample-rows.ts";

async function onlyRow(store: Store, key = "key-1"): Promise<CallRow> {
  const rows = await store.read(() => callsAnywhere(key));
  assert.equal(rows.length, 1);
  const [row] = rows;
  assert.ok(row !== undefined);
  return row;
}

export const callCases: readonly StoreCase[] = [
  {
    name: "returns a call's row as it was written",
    run: async ({ store }) => {
      const scope = await openScope(store);
      const call = sampleCall(scope, {
        idempotencyKey: "business",
        effect: "none",
        outputJson: "[1]",
        errorJson: '{"code":"X"}',
        finishedAtMs: 1_700_000_000_123,
        replayedFrom: 2,
        fromCache: true,
        approvalId: "apr_1",
        tries: 2,
        isolation: "bwrap",
        waitsFor: "apr_2",
        lateJson: "[2]",
      });
      assert.equal(await commit(store, () => insertCall(call, writerOf(scope))), 1);
      assert.deepEqual(await onlyRow(store), call);
    },
  },
  {
    name: "accepts a key once per attempt, as an intent and as a whole row",
    run: async ({ store }) => {
      const scope = await openScope(store);
      const insert = (fields: Parameters<typeof sampleCall>[1]): Promise<number> =>
        commit(store, () => insertCall(sampleCall(scope, fields), writerOf(scope)));
      assert.equal(await insert({}), 1);
      assert.equal(await insert({ seq: 2 }), 0);
      const begin = (): Promise<number> =>
        commit(store, () =>
          changeBy(insertStarted(sampleCall(scope, { key: "key-2", seq: 2 }), writerOf(scope))),
        );
      assert.deepEqual([await begin(), await begin()], [1, 0]);
      assert.partialDeepStrictEqual(await onlyRow(store, "key-2"), { status: "started", seq: 2, tries: 1 });
      assert.equal(await store.read(() => highestSeq(scope.id, 1)), 2);
      assert.equal(await store.read(() => highestSeq(scope.id, 2)), 0);
    },
  },
  {
    name: "numbers the calls of a task across all its scopes",
    run: async ({ store }) => {
      const outer = await openScope(store);
      const inner = await openScope(store, 1, { ...SCOPE, parentKey: "key-1" });
      await commit(store, () => insertCall(sampleCall(outer), writerOf(outer)));
      await commit(store, () => insertCall(sampleCall(inner, { key: "key-2", seq: 7 }), writerOf(outer)));
      assert.equal(await store.read(() => highestSeq(outer.id, 1)), 1);
      assert.equal(await store.read(() => highestSeqOfTask(SCOPE, 1)), 7);
      assert.equal(await store.read(() => highestSeqOfTask({ ...SCOPE, nodeId: "other" }, 1)), 0);
    },
  },
  {
    name: "accepts no row from a replaced attempt or owner",
    run: async ({ store }) => {
      const old = await openScope(store);
      const epoch = await commit(store, () => takeScope(old.id, "owner-2"));
      const insert = (writer: Parameters<typeof insertCall>[1]): Promise<number> =>
        commit(store, () => insertCall(sampleCall(old), writer));
      assert.equal(await insert(writerOf(old)), 0);
      await openScope(store, 2);
      assert.equal(await insert({ rootScopeId: old.id, epoch, attempt: 1 }), 0);
      assert.equal(await insert({ rootScopeId: old.id, epoch: null, attempt: 1 }), 0);
      assert.equal(await insert({ rootScopeId: old.id, epoch, attempt: 2 }), 1);
    },
  },
  {
    name: "accepts one row when two stores begin the same call at the same time",
    needsSharing: true,
    run: async ({ store, open }) => {
      const scope = await openScope(store);
      const stores = [store, await open(), await open()];
      assert.equal(await changesInEach(stores, () => insertCall(sampleCall(scope), writerOf(scope))), 1);
    },
  },
  {
    name: "ends a call once, by its owner",
    run: async ({ store }) => {
      const scope = await openScope(store);
      await commit(store, () => insertCall(sampleCall(scope), writerOf(scope)));
      const at = { scopeId: scope.id, key: "key-1", attempt: 1, ownerId: "owner-1" };
      const end = sampleEnd({ isolation: "bwrap", tries: 3, keyRead: false });
      assert.equal(await commit(store, () => changeBy(finishCall({ ...at, ownerId: "owner-2" }, end))), 0);
      assert.equal(await commit(store, () => changeBy(finishCall(at, end))), 1);
      assert.equal(await commit(store, () => changeBy(finishCall(at, sampleEnd({ status: "error" })))), 0);
      assert.partialDeepStrictEqual(await onlyRow(store), { ...end });
      assert.equal(await store.read(() => hasUnreadKey("order")), true);
      assert.equal(await store.read(() => hasUnreadKey("other")), false);
    },
  },
  {
    name: "marks a call unknown while its dead owner holds it, and begins it again once",
    run: async ({ store }) => {
      const scope = await openScope(store);
      await commit(store, () => insertCall(sampleCall(scope), writerOf(scope)));
      const started = await onlyRow(store);
      assert.equal(await commit(store, () => markUnknown({ ...started, ownerId: "owner-2" }, 1_500)), 0);
      assert.equal(await commit(store, () => markUnknown(started, 1_500)), 1);
      assert.equal(await commit(store, () => markUnknown(started, 1_600)), 0);
      const unknown = await onlyRow(store);
      assert.equal(unknown.status, "unknown");
      const again = sampleCall(scope, { ownerId: "owner-2", startedAtMs: 1_700, toolCallId: "id-2" });
      const begin = (): Promise<number> => commit(store, () => startAgain(unknown, again, writerOf(scope)));
      assert.deepEqual([await begin(), await begin()], [1, 0]);
      assert.partialDeepStrictEqual(await onlyRow(store), {
        status: "started",
        ownerId: "owner-2",
        startedAtMs: 1_700,
        toolCallId: "id-2",
        finishedAtMs: null,
      });
    },
  },
  {
    name: "begins no call again for a replaced owner",
    run: async ({ store }) => {
      const scope = await openScope(store);
      await commit(store, () => insertCall(sampleCall(scope, { status: "unknown" }), writerOf(scope)));
      const row = await onlyRow(store);
      await commit(store, () => takeScope(scope.id, "owner-2"));
      assert.equal(await commit(store, () => startAgain(row, sampleCall(scope), writerOf(scope))), 0);
    },
  },
  {
    name: "closes a waiting call only if it has not changed since the closer read it",
    run: async ({ store }) => {
      const scope = await openScope(store);
      await commit(store, () => insertCall(sampleCall(scope, { status: "pending" }), writerOf(scope)));
      const row = await onlyRow(store);
      const end = {
        status: "denied",
        effect: null,
        outputJson: null,
        errorJson: null,
        finishedAtMs: 2_000,
        approvalId: "apr_1",
      } as const;
      const fenced = { ...writerOf(scope), epoch: scope.epoch + 1 };
      assert.equal(await commit(store, () => closeCall(row, end, fenced)), 0);
      assert.equal(await commit(store, () => closeCall(row, end, writerOf(scope))), 1);
      assert.equal(await commit(store, () => closeCall(row, end, writerOf(scope))), 0);
      assert.partialDeepStrictEqual(await onlyRow(store), { status: "denied", approvalId: "apr_1" });
    },
  },
  {
    name: "moves a waiting call to the next attempt, and no other",
    run: async ({ store }) => {
      const scope = await openScope(store);
      const waiting = sampleCall(scope, { status: "pending" });
      const running = sampleCall(scope, { key: "key-2", seq: 2 });
      await commit(store, () => insertCall(waiting, writerOf(scope)));
      await commit(store, () => insertCall(running, writerOf(scope)));
      const row = await onlyRow(store);
      const other = await onlyRow(store, "key-2");
      const next = await openScope(store, 2);
      const late = { ...writerOf(next), epoch: next.epoch - 1 };
      assert.equal(await commit(store, () => moveToAttempt(row, 5, late)), 0);
      assert.equal(await commit(store, () => moveToAttempt(row, 5, writerOf(next))), 1);
      assert.equal(await commit(store, () => moveToAttempt(other, 6, writerOf(next))), 0);
      assert.partialDeepStrictEqual(await onlyRow(store), { attempt: 2, seq: 5 });
    },
  },
  {
    name: "lists the rows of a key with the latest attempt first, and keeps late results",
    run: async ({ store }) => {
      const first = await openScope(store);
      await commit(store, () => insertCall(sampleCall(first, { status: "error" }), writerOf(first)));
      const second = await openScope(store, 2);
      await commit(store, () => insertCall(sampleCall(second), writerOf(second)));
      const late = { effect: "happened", json: '{"id":2}' } as const;
      assert.equal(
        await commit(store, () => recordLate({ scopeId: first.id, key: "key-1", attempt: 1 }, late)),
        1,
      );
      const rows = await store.read(() => callsByKey(first.id, "key-1"));
      assert.deepEqual(
        rows.map(({ attempt, effect, lateJson }) => [attempt, effect, lateJson]),
        [
          [2, null, null],
          [1, "happened", '{"id":2}'],
        ],
      );
    },
  },
  {
    name: "keeps long values in full, by key, attempt and part",
    run: async ({ store }) => {
      const body = "x".repeat(300_000);
      await commit(store, () => savePayload("key-1", 1, "output", "old"));
      await commit(store, () => savePayload("key-1", 1, "output", body));
      await commit(store, () => savePayload("key-1", 2, "output", "later"));
      assert.equal(await store.read(() => readPayload("key-1", 1, "output")), body);
      assert.equal(await store.read(() => readPayload("key-1", null, "output")), "later");
      assert.equal(await store.read(() => readPayload("key-1", 1, "input")), undefined);
    },
  },
];
