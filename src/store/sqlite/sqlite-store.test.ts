/** How the SQLite store runs statements: alone or in a transaction, with parameters in any order. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { all, change } from "../statement.ts";
import type { Store, Transaction } from "../store.ts";
import { openSqliteStore } from "./sqlite-store.ts";

let store: Store;

beforeEach(async () => {
  store = await openSqliteStore(":memory:");
  await store.transaction(() => change("CREATE TABLE items (name TEXT PRIMARY KEY, size INTEGER)"), "normal");
});

afterEach(() => store.close());

const items = async (): Promise<unknown> =>
  (await store.read(() => all("SELECT name, size FROM items ORDER BY name"))).map((row) => ({ ...row }));

const insert = (name: string) => ({
  kind: "change" as const,
  sql: "INSERT INTO items VALUES (?1, 1) ON CONFLICT DO NOTHING",
  parameters: [name],
  isLast: true,
});

it("commits a statement that is the whole transaction", async () => {
  const changes = await store.transaction(function* () {
    return (yield insert("a")).changes;
  }, "normal");
  expect(changes).toBe(1);
  expect(await items()).toEqual([{ name: "a", size: 1 }]);
});

it("runs the transaction again as one, if its only statement changes nothing", async () => {
  const work = function* (): Transaction<string> {
    const { changes } = yield insert("a");
    if (changes > 0) return "new";
    yield* change("INSERT INTO items VALUES ('b', 2)");
    throw new Error("rolled back");
  };
  expect(await store.transaction(work, "normal")).toBe("new");
  await expect(store.transaction(work, "normal")).rejects.toThrow("rolled back");
  expect(await items()).toEqual([{ name: "a", size: 1 }]);
});

it("refuses a last statement that others follow", async () => {
  const work = function* (): Transaction<void> {
    yield insert("a");
    yield* change("INSERT INTO items VALUES ('b', 2)");
  };
  await expect(store.transaction(work, "normal")).rejects.toThrow("isLast");
  expect(await items()).toEqual([{ name: "a", size: 1 }]);
});

it("binds parameters by number: in any order, more than once, and not at all", async () => {
  const [row] = await store.read(() =>
    all("SELECT ?3 AS three, ?1 AS one, ?3 || ?1 AS both, '?' AS mark", "one", "two", "three"),
  );
  expect({ ...row }).toEqual({ three: "three", one: "one", both: "threeone", mark: "?" });
});
