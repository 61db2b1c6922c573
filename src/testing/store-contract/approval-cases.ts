/** Approval requests: decided once, used once. */
import assert from "node:assert/strict";
import {
  approvalOfCall,
  callsWithEditedArguments,
  denialOf,
  denyEqualRequests,
  insertApproval,
  listApprovals,
  readApproval,
  redeemApproval,
  settleApproval,
  voidApproval,
  voidApprovalsOfTask,
  voidPending,
  type StoredDecision,
} from "../../store/tables/approvals.ts";
import { changesInEach, commit, type StoreCase } from "./contract-case.ts";
import { insertCall } from "../../store/tables/write-calls.ts";
import { openScope, sampleApproval, sampleCall, SCOPE, writerOf } from "./sample-rows.ts";

const APPROVED: StoredDecision = {
  status: "approved",
  decidedAtMs: 2_000,
  decidedBy: "ada",
  comment: "fine",
  approvedArgsJson: '{"sku":"b"}',
  approvedHash: "hash-2",
  outputJson: null,
};
const DENIED: StoredDecision = { ...APPROVED, status: "denied", approvedArgsJson: null, approvedHash: null };

export const approvalCases: readonly StoreCase[] = [
  {
    name: "stores a request once, as it was written, with its decision",
    run: async ({ store }) => {
      const scope = await openScope(store);
      const approval = sampleApproval(scope, { defaultsJson: "{}", contractJson: "{}", expiresAtMs: 9_000 });
      await commit(store, () => insertApproval(approval));
      await commit(store, () => insertApproval({ ...approval, prompt: "Another?" }));
      const open = {
        ...approval,
        status: "pending",
        decidedAtMs: null,
        decidedBy: null,
        comment: null,
        approvedArgsJson: null,
        outputJson: null,
        redeemedAtMs: null,
      };
      assert.deepEqual(await store.read(() => readApproval("apr_1", 1_000)), open);
      assert.equal(await commit(store, () => settleApproval("apr_1", APPROVED)), 1);
      const { approvedHash: _hash, ...decision } = APPROVED;
      assert.deepEqual(await store.read(() => readApproval("apr_1", 1_000)), { ...open, ...decision });
      assert.equal(await store.read(() => readApproval("apr_2", 1_000)), undefined);
    },
  },
  {
    name: "decides a request once",
    run: async ({ store }) => {
      const scope = await openScope(store);
      await commit(store, () => insertApproval(sampleApproval(scope)));
      assert.equal(await commit(store, () => settleApproval("apr_1", DENIED)), 1);
      assert.equal(await commit(store, () => settleApproval("apr_1", APPROVED)), 0);
      assert.equal((await store.read(() => readApproval("apr_1", 1_000)))?.status, "denied");
    },
  },
  {
    name: "redeems an approval once, and nothing but approvals",
    run: async ({ store }) => {
      const scope = await openScope(store);
      await commit(store, () => insertApproval(sampleApproval(scope)));
      const redeem = (): Promise<number> => commit(store, () => redeemApproval("apr_1", 3_000));
      assert.equal(await redeem(), 0);
      await commit(store, () => settleApproval("apr_1", APPROVED));
      assert.deepEqual([await redeem(), await redeem()], [1, 0]);
    },
  },
  {
    name: "redeems an approval for one of several stores that try at the same time",
    needsSharing: true,
    run: async ({ store, open }) => {
      const scope = await openScope(store);
      await commit(store, () => insertApproval(sampleApproval(scope)));
      await commit(store, () => settleApproval("apr_1", APPROVED));
      const stores = [store, await open(), await open()];
      assert.equal(await changesInEach(stores, () => redeemApproval("apr_1", 3_000)), 1);
    },
  },
  {
    name: "shows an undecided request as expired after its deadline",
    run: async ({ store }) => {
      const scope = await openScope(store);
      await commit(store, () => insertApproval(sampleApproval(scope, { expiresAtMs: 5_000 })));
      assert.equal((await store.read(() => readApproval("apr_1", 4_999)))?.status, "pending");
      assert.equal((await store.read(() => readApproval("apr_1", 5_000)))?.status, "expired");
      assert.equal((await store.read(() => listApprovals({ status: "pending" }, 5_000))).length, 0);
      assert.equal((await store.read(() => listApprovals({ status: "expired" }, 5_000))).length, 1);
    },
  },
  {
    name: "lists requests by status and run, in the order in which they were made",
    run: async ({ store }) => {
      const scope = await openScope(store);
      const insert = (id: string, runId: string): Promise<void> =>
        commit(store, () => insertApproval(sampleApproval(scope, { id, runId })));
      await insert("apr_2", "run-1");
      await insert("apr_1", "run-1");
      await insert("apr_3", "run-2");
      await commit(store, () => settleApproval("apr_2", DENIED));
      const list = async (filter: Parameters<typeof listApprovals>[0]): Promise<string[]> =>
        (await store.read(() => listApprovals(filter, 4_000))).map(({ id }) => id);
      assert.deepEqual(await list({}), ["apr_2", "apr_1", "apr_3"]);
      assert.deepEqual(await list({ runId: "run-1" }), ["apr_2", "apr_1"]);
      assert.deepEqual(await list({ status: "pending" }), ["apr_1", "apr_3"]);
      assert.deepEqual(await list({ status: "denied", runId: "run-1" }), ["apr_2"]);
    },
  },
  {
    name: "finds the latest request about a call, and the denial of an equal one",
    run: async ({ store }) => {
      const scope = await openScope(store);
      await commit(store, () => insertApproval(sampleApproval(scope)));
      await commit(store, () => insertApproval(sampleApproval(scope, { id: "apr_2", round: 2 })));
      assert.equal((await store.read(() => approvalOfCall("key-1", 1_000)))?.id, "apr_2");
      assert.equal(await store.read(() => approvalOfCall("key-2", 1_000)), undefined);
      const denial = (hash: string): Promise<string | undefined> =>
        store.read(() => denialOf(SCOPE, "order", hash, 1_000)).then((row) => row?.id);
      assert.equal(await denial("hash-1"), undefined);
      await commit(store, () => settleApproval("apr_1", DENIED));
      assert.equal(await denial("hash-1"), "apr_1");
      assert.equal(await denial("hash-2"), undefined);
    },
  },
  {
    name: "denies the equal requests that wait in the same scope, and no others",
    run: async ({ store }) => {
      const scope = await openScope(store);
      const others = [{}, {}, { argsHash: "hash-2" }, { toolName: "other" }, { kind: "replay" }] as const;
      for (const [index, fields] of others.entries()) {
        await commit(store, () => insertApproval(sampleApproval(scope, { id: `apr_${index}`, ...fields })));
      }
      await commit(store, () => settleApproval("apr_0", DENIED));
      const denied = await store.read(() => readApproval("apr_0", 2_000));
      assert.ok(denied !== undefined);
      assert.equal(await commit(store, () => denyEqualRequests(denied)), 1);
      const waiting = await store.read(() => listApprovals({ status: "pending" }, 2_000));
      assert.deepEqual(
        waiting.map(({ id }) => id),
        ["apr_2", "apr_3", "apr_4"],
      );
    },
  },
  {
    name: "finds the calls that ran with arguments from an approver",
    run: async ({ store }) => {
      const scope = await openScope(store);
      await commit(store, () => insertApproval(sampleApproval(scope)));
      await commit(store, () => settleApproval("apr_1", APPROVED));
      const find = (hash: string): Promise<string[]> =>
        store.read(() => callsWithEditedArguments(scope.id, "order", hash));
      assert.deepEqual(await find("hash-2"), []);
      await commit(store, () => redeemApproval("apr_1", 3_000));
      assert.deepEqual(await find("hash-2"), ["key-1"]);
      assert.deepEqual(await find("hash-1"), []);
    },
  },
  {
    name: "voids the open requests of a task, or one request",
    run: async ({ store }) => {
      const scope = await openScope(store);
      const other = await openScope(store, 1, { ...SCOPE, path: "1" });
      await commit(store, () => insertApproval(sampleApproval(scope)));
      await commit(store, () => insertApproval(sampleApproval(scope, { id: "apr_2" })));
      await commit(store, () => insertApproval(sampleApproval(other, { id: "apr_3", callKey: "key-3" })));
      await commit(store, () => settleApproval("apr_2", APPROVED));
      const statuses = async () =>
        (await store.read(() => listApprovals({}, 1_000))).map(({ status }) => status);
      // The task finds only pending calls.
      await commit(store, () => voidApprovalsOfTask(SCOPE));
      assert.deepEqual(await statuses(), ["pending", "approved", "pending"]);
      await commit(store, () => insertCall(sampleCall(scope, { status: "pending" }), writerOf(scope)));
      await commit(store, () => voidApprovalsOfTask(SCOPE));
      assert.deepEqual(await statuses(), ["void", "approved", "pending"]);
      await commit(store, () => voidPending("apr_2"));
      await commit(store, () => voidApproval("apr_3"));
      assert.deepEqual(await statuses(), ["void", "approved", "void"]);
    },
  },
];
