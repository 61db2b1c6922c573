/** Opening a store: the first process migrates it, once; a newer store is not changed. */
import assert from "node:assert/strict";
import { ToolwrightError } from "../../errors.ts";
import { finishCall, insertCall } from "../../store/tables/write-calls.ts";
import { all, change, changeBy, first } from "../../store/statement.ts";
import { addUsage, peekUsage } from "../../store/tables/usage.ts";
import { commit, type StoreCase } from "./contract-case.ts";
import { openScope, sampleCall, sampleEnd, writerOf } from "./sample-rows.ts";

/** The documented columns of the log that have two spellings. */
const SPELLINGS = {
  runId: "run_id",
  nodeId: "node_id",
  toolName: "tool_name",
  inputJson: "input_json",
  outputJson: "output_json",
  startedAtMs: "started_at_ms",
  finishedAtMs: "finished_at_ms",
  errorJson: "error_json",
  idempotencyKey: "idempotency_key",
  toolCallId: "tool_call_id",
  replayedFrom: "replayed_from",
  fromCache: "from_cache",
  approvalId: "approval_id",
  parentKey: "parent_key",
} as const;

export const openingCases: readonly StoreCase[] = [
  {
    name: "keeps its data and its secret when it is opened again",
    needsSharing: true,
    run: async ({ store, open }) => {
      await commit(store, () => addUsage("run-1", "a", 1));
      const again = await open();
      assert.notEqual(store.secret, "");
      assert.equal(again.secret, store.secret);
      assert.equal(again.dialect, store.dialect);
      assert.equal((await again.read(() => peekUsage("run-1", "a")))?.used, 1);
    },
  },
  {
    name: "is refused with TOOL_STORE_VERSION and left unchanged when a newer version wrote it",
    needsSharing: true,
    run: async ({ store, open }) => {
      await commit(store, () => change("UPDATE toolwright_meta SET value = '9999' WHERE name = 'version'"));
      await assert.rejects(
        open(),
        (error) => ToolwrightError.is(error) && error.code === "TOOL_STORE_VERSION",
      );
      const row = await store.read(() => first("SELECT value FROM toolwright_meta WHERE name = 'version'"));
      assert.equal(row?.["value"], "9999");
    },
  },
  {
    name: "can be closed twice",
    run: async ({ store }) => {
      await commit(store, () => addUsage("run-1", "a", 1));
      await store.close();
      await store.close();
    },
  },
  {
    name: "commits the transactions that were requested before it was closed",
    needsSharing: true,
    run: async ({ store, open }) => {
      const other = await open();
      const asked = commit(other, () => addUsage("run-1", "a", 1));
      await Promise.all([asked, other.close()]);
      assert.equal((await store.read(() => peekUsage("run-1", "a")))?.used, 1);
    },
  },
  {
    name: "shows the log as _smithers_tool_calls, with both spellings of its columns",
    run: async ({ store }) => {
      const scope = await openScope(store);
      await commit(store, () => insertCall(sampleCall(scope), writerOf(scope)));
      const at = { scopeId: scope.id, key: "key-1", attempt: 1, ownerId: "owner-1" };
      await commit(store, () => changeBy(finishCall(at, sampleEnd())));
      const rows = await store.read(() => all("SELECT * FROM _smithers_tool_calls"));
      assert.equal(rows.length, 1);
      const [row = {}] = rows;
      for (const [camel, snake] of Object.entries(SPELLINGS)) {
        assert.ok(camel in row && snake in row, `${camel} and ${snake}`);
        assert.equal(row[camel], row[snake]);
      }
      assert.partialDeepStrictEqual(row, {
        runId: "run-1",
        nodeId: "main",
        iteration: 0,
        attempt: 1,
        seq: 1,
        toolName: "order",
        inputJson: '{"sku":"a"}',
        outputJson: '{"id":1}',
        startedAtMs: 1_000,
        finishedAtMs: 2_000,
        status: "success",
        errorJson: null,
        key: "key-1",
        idempotencyKey: "key-1",
        toolCallId: "id-1",
        replayed: 0,
        fromCache: 0,
        tries: 1,
      });
    },
  },
];
