/** Transactions are atomic, even with concurrent writers. */
import assert from "node:assert/strict";
import { ToolwrightError } from "../../errors.ts";
import { readInteger } from "../../store/tables/columns.ts";
import { all, change, first } from "../../store/statement.ts";
import type { Store, Transaction } from "../../store/store.ts";
import { addUsage, peekUsage, readUsage } from "../../store/tables/usage.ts";
import { commit, type StoreCase } from "./contract-case.ts";

/** A counter is the simplest row of a store. */
function add(name: string, amount = 1): Transaction<number> {
  return addUsage("run-1", name, amount);
}

async function used(store: Store, name: string): Promise<number> {
  return (await store.read(() => peekUsage("run-1", name)))?.used ?? 0;
}

/** Reads, computes and writes: without isolation, two at once lose an update. */
function* increment(name: string): Transaction<void> {
  const { used: before } = yield* readUsage("run-1", name);
  yield* change(
    "UPDATE toolwright_usage SET used = CAST(?1 AS DOUBLE PRECISION) WHERE run_id = 'run-1' AND name = ?2",
    before + 1,
    name,
  );
}

const repeat = (times: number): number[] => Array.from({ length: times }, (_, index) => index);

export const transactionCases: readonly StoreCase[] = [
  {
    name: "commits all statements of a transaction, and returns its result",
    run: async ({ store }) => {
      const result = await commit(store, function* () {
        yield* add("a", 2);
        yield* add("b", 3);
        return "done";
      });
      assert.equal(result, "done");
      assert.deepEqual([await used(store, "a"), await used(store, "b")], [2, 3]);
    },
  },
  {
    name: "commits at both levels",
    run: async ({ store }) => {
      await store.transaction(() => add("a"), "full");
      await store.transaction(() => add("a"), "normal");
      await store.transaction(() => add("a"), "full");
      assert.equal(await used(store, "a"), 3);
    },
  },
  {
    name: "lets a transaction see its own writes",
    run: async ({ store }) => {
      const seen = await commit(store, function* () {
        yield* add("a", 7);
        return yield* peekUsage("run-1", "a");
      });
      assert.equal(seen?.used, 7);
    },
  },
  {
    name: "commits nothing of a transaction that throws, and rejects with the thrown error",
    run: async ({ store }) => {
      const thrown = new Error("no");
      const attempt = commit(store, function* () {
        yield* add("a");
        throw thrown;
      });
      await assert.rejects(attempt, (error) => error === thrown);
      assert.equal(await used(store, "a"), 0);
    },
  },
  {
    name: "commits nothing of a transaction that the database refuses, and rejects with TOOL_STORE_FAILED",
    run: async ({ store }) => {
      const attempt = commit(store, function* () {
        yield* add("a");
        yield* all("SELECT * FROM toolwright_no_such_table");
      });
      await assert.rejects(
        attempt,
        (error) => ToolwrightError.is(error) && error.code === "TOOL_STORE_FAILED",
      );
      assert.equal(await used(store, "a"), 0);
      await commit(store, () => add("a"));
      assert.equal(await used(store, "a"), 1);
    },
  },
  {
    name: "rejects with TOOL_STORE_FAILED when a read fails",
    run: async ({ store }) => {
      await assert.rejects(
        store.read(() => all("SELECT * FROM toolwright_no_such_table")),
        (error) => ToolwrightError.is(error) && error.code === "TOOL_STORE_FAILED",
      );
    },
  },
  {
    name: "does not mix up the failures of concurrent transactions",
    run: async ({ store }) => {
      const ends = await Promise.allSettled(
        repeat(30).map((index) =>
          commit(store, function* () {
            yield* add("a");
            if (index % 3 === 0) throw new Error(`no ${index}`);
            return index;
          }),
        ),
      );
      for (const [index, end] of ends.entries()) {
        if (index % 3 === 0) {
          assert.equal(end.status, "rejected");
          assert.equal((end.reason as Error).message, `no ${index}`);
        } else assert.deepEqual(end, { status: "fulfilled", value: index });
      }
      assert.equal(await used(store, "a"), 20);
    },
  },
  {
    name: "loses no update of concurrent transactions",
    run: async ({ store }) => {
      await Promise.all(repeat(40).map(() => commit(store, () => increment("a"))));
      assert.equal(await used(store, "a"), 40);
    },
  },
  {
    name: "loses no update of two stores that write at the same time",
    needsSharing: true,
    run: async ({ store, open }) => {
      const other = await open();
      await Promise.all(
        repeat(30).flatMap(() => [commit(store, () => increment("a")), commit(other, () => increment("a"))]),
      );
      assert.equal(await used(store, "a"), 60);
    },
  },
  {
    name: "retries transactions that conflict",
    needsSharing: true,
    run: async ({ store, open }) => {
      const other = await open();
      await commit(store, function* () {
        yield* add("a", 0);
        yield* add("b", 0);
      });
      const both = (one: string, two: string) =>
        function* (): Transaction<void> {
          yield* increment(one);
          yield* increment(two);
        };
      for (const _ of repeat(3)) {
        await Promise.all([commit(store, both("a", "b")), commit(other, both("b", "a"))]);
      }
      assert.deepEqual([await used(store, "a"), await used(other, "b")], [6, 6]);
    },
  },
  {
    name: "shows readers only what is committed",
    needsSharing: true,
    run: async ({ store, open }) => {
      const reader = await open();
      const write = (): Promise<void> =>
        commit(store, function* () {
          yield* add("a");
          yield* add("b");
        });
      const writing = Promise.all(repeat(50).map(write));
      for (const _ of repeat(100)) {
        const row = await reader.read(() =>
          first(
            `SELECT (SELECT used FROM toolwright_usage WHERE name = 'a') AS a,
               (SELECT used FROM toolwright_usage WHERE name = 'b') AS b`,
          ),
        );
        assert.equal(row?.["a"], row?.["b"]);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await writing;
    },
  },
  {
    name: "returns values as they were written",
    run: async ({ store }) => {
      const texts = ["", "äöü 😀 ' \" \\ \n\t ?1 $1 {now}"];
      const numbers = [0, -1, Number.MAX_SAFE_INTEGER, 0.1 + 0.2, 1e-9];
      for (const text of texts) {
        await commit(store, () => add(text));
        assert.equal(await used(store, text), 1);
        await commit(store, () =>
          change("DELETE FROM toolwright_usage WHERE run_id = 'run-1' AND name = ?1", text),
        );
      }
      for (const [index, number] of numbers.entries()) {
        await commit(store, () => add(`number-${index}`, number));
        assert.equal(await used(store, `number-${index}`), number);
      }
      const row = await store.read(() => first("SELECT CAST(?1 AS TEXT) AS empty", null));
      assert.equal(row?.["empty"], null);
    },
  },
  {
    name: "reports how many rows a change touched",
    run: async ({ store }) => {
      await commit(store, function* () {
        yield* add("a");
        yield* add("b");
      });
      const touched = await commit(store, () => change("UPDATE toolwright_usage SET used = 9"));
      assert.equal(touched, 2);
      const none = await commit(store, () => change("DELETE FROM toolwright_usage WHERE name = 'c'"));
      assert.equal(none, 0);
    },
  },
  {
    name: "returns the time in milliseconds",
    run: async ({ store }) => {
      const row = await store.read(() => first("SELECT {now} AS now"));
      assert.ok(row !== undefined && Math.abs(readInteger(row, "now") - Date.now()) < 60_000);
    },
  },
];
