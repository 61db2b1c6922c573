/** Cases that need a server and several connections. */
import { Client } from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createRuntime, type Store } from "../../src/index.ts";
import { openPostgresStore, type PostgresStoreOptions } from "../../src/postgres.ts";
import { all, change, changeBy } from "../../src/store/statement.ts";
import type { Transaction } from "../../src/store/store.ts";
import { freshPostgres, freshPostgresSchema } from "../postgres/fresh-postgres.ts";
import { openCuttingProxy } from "../postgres/cutting-proxy.ts";
import { times, until } from "../semantics/harness.ts";
import { createCharge } from "../semantics/tools.ts";

const task = { runId: "r1" };

async function open(address: string, options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({ connectionString: address, ...options });
  onTestFinished(() => store.close());
  return store;
}

async function connectTo(address: string): Promise<Client> {
  const client = new Client({ connectionString: address });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const add = (name: string) =>
  change("INSERT INTO toolwright_usage (run_id, name, used) VALUES ('r1', ?1, 1)", name);
/** Of one statement, which a store may send together with others. A name that is taken changes nothing. */
const addLast = (name: string, used: number | string = 1): Transaction<number> =>
  changeBy({
    kind: "change",
    sql: "INSERT INTO toolwright_usage (run_id, name, used) VALUES ('r1', ?1, ?2) ON CONFLICT DO NOTHING",
    parameters: [name, used],
    isLast: true,
  });
const names = async (store: Store): Promise<unknown[]> =>
  (await store.read(() => all("SELECT name FROM toolwright_usage ORDER BY name"))).map(({ name }) => name);

/** Of one statement. Counts how often it was committed. */
const addOne = (): Transaction<number> =>
  changeBy({
    kind: "change",
    sql: "UPDATE toolwright_usage SET used = used + 1",
    parameters: [],
    isLast: true,
  });

/** The machine of the server is down after it has committed: only the keep-alive probes of the connection notice. */
function loseNextCommit(): void {
  const real = Reflect.get(Client.prototype, "query") as (...sent: unknown[]) => unknown;
  const spy = vi.spyOn(Client.prototype, "query");
  const lose = async function (this: Client, ...sent: unknown[]): Promise<unknown> {
    const result = await real.apply(this, sent);
    if (sent[0] !== "COMMIT") return result;
    spy.mockRestore();
    throw Object.assign(new Error("read ETIMEDOUT"), { code: "ETIMEDOUT" });
  };
  spy.mockImplementation(lose);
}

/** Another client locks a row of the store until it commits. */
async function lockRow(store: Store, address: string): Promise<Client> {
  await store.transaction(() => add("locked"), "normal");
  const client = await connectTo(address);
  await client.query("BEGIN; UPDATE toolwright_usage SET used = 2 WHERE name = 'locked'");
  return client;
}

/** Roles are shared by all databases of the server. */
function roleOf(address: string): string {
  return `limited_${new URL(address).pathname.slice(1)}`;
}

const updateLocked = () => change("UPDATE toolwright_usage SET used = used + 1 WHERE name = 'locked'");

/** A transaction that holds a connection and waits for a lock. */
async function holdConnection(store: Store, address: string) {
  const client = await lockRow(store, address);
  const watcher = await connectTo(address);
  const holding = store.transaction(updateLocked, "normal");
  await until(async () => {
    const { rowCount } = await watcher.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return rowCount === 1;
  });
  return { holding, release: () => client.query("COMMIT") };
}

describe("concurrent transactions", () => {
  test("500 calls on two connections all run", { timeout: 120_000 }, async () => {
    const store = await open(await freshPostgresSchema(), { poolSize: 2 });
    const { charge, effects } = createCharge();
    await using runtime = createRuntime({ store });
    const calls = Array.from({ length: 500 }, (_, amount) => runtime.call(charge, { amount }, task));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(["success"]));
    expect(effects).toHaveLength(500);
  });

  test("waiting for a connection does not count as connecting", async () => {
    const address = await freshPostgresSchema();
    const store = await open(address, { poolSize: 1, connectTimeoutMs: 10_000 });
    const { holding, release } = await holdConnection(store, address);
    // An hour passes for the transactions that wait behind it.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const waiting = [names(store), store.transaction(() => add("a"), "normal"), names(store)];
    const ends = Promise.allSettled([holding, ...waiting]);
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(3_600_000);
    vi.useRealTimers();
    await release();
    expect((await ends).map(({ status }) => status)).toEqual(times(4, "fulfilled"));
  });

  test("one that fails does not affect the others", async () => {
    const store = await open(await freshPostgresSchema(), { poolSize: 1 });
    const ends = await Promise.allSettled(
      ["a", "b", "b", "c"].map((name) => store.transaction(() => add(name), "normal")),
    );
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(await names(store)).toEqual(["a", "b", "c"]);
  });

  test("transactions of one statement are committed together, without waiting for more connections", async () => {
    const store = await open(await freshPostgresSchema(), { poolSize: 3 });
    const counts = await Promise.all(
      ["a", "b", "c"].map((name) => store.transaction(() => addLast(name), "normal")),
    );
    expect(counts).toEqual([1, 1, 1]);
    const writers = "SELECT DISTINCT CAST(xmin AS TEXT) AS writer FROM toolwright_usage";
    expect(await store.read(() => all(writers))).toHaveLength(1);
  });

  test("a transaction of one statement that changes nothing runs alone, and finds out why", async () => {
    const store = await open(await freshPostgresSchema());
    await store.transaction(() => addLast("a"), "normal");
    function* addOrExplain(name: string): Transaction<string> {
      if ((yield* addLast(name)) === 1) return `${name} is new`;
      const [row] = yield* all("SELECT name FROM toolwright_usage WHERE name = ?1", name);
      return `${String(row?.["name"])} is taken`;
    }
    const added = ["b", "a", "c", "a"].map((name) => store.transaction(() => addOrExplain(name), "normal"));
    expect(await Promise.all(added)).toEqual(["b is new", "a is taken", "c is new", "a is taken"]);
  });

  test("a transaction of one statement that fails does not affect the others", async () => {
    const store = await open(await freshPostgresSchema());
    const added = [addLast, (name: string) => addLast(name, "no number"), addLast].map((run, index) =>
      store.transaction(() => run(`name ${index}`), "normal"),
    );
    const ends = await Promise.allSettled(added);
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await names(store)).toEqual(["name 0", "name 2"]);
  });

  test("a transaction that continues after its declared last statement runs alone", async () => {
    const store = await open(await freshPostgresSchema());
    function* addTwo(name: string): Transaction<number> {
      return (yield* addLast(name)) + (yield* add(`${name} again`));
    }
    const added = [() => addLast("a"), () => addTwo("b"), () => addLast("c")].map((run) =>
      store.transaction(run, "normal"),
    );
    expect(await Promise.all(added)).toEqual([1, 2, 1]);
    expect(await names(store)).toEqual(["a", "b", "b again", "c"]);
  });

  test("one that waits for a lock does not block the others", async () => {
    const address = await freshPostgresSchema();
    const store = await open(address, { poolSize: 2 });
    const other = await lockRow(store, address);
    let isDone = false;
    const waiting = store.transaction(updateLocked, "normal").finally(() => (isDone = true));
    await Promise.all(["a", "b", "c", "d"].map((name) => store.transaction(() => add(name), "normal")));
    expect(isDone).toBe(false);
    await other.query("COMMIT");
    expect(await waiting).toBe(1);
  });

  test("pending work ends before the store is closed", async () => {
    const address = await freshPostgresSchema();
    const store = await openPostgresStore({ connectionString: address, poolSize: 1 });
    const writes = ["a", "b", "c"].map((name) => store.transaction(() => add(name), "normal"));
    const reading = names(store);
    await store.close();
    await Promise.all([...writes, reading]);
    expect(await names(await open(address))).toEqual(["a", "b", "c"]);
    await expect(names(store)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
  });
});

describe("a connection that is cut", () => {
  /** A charge through a proxy that cuts the connection once, and then the same charge again. */
  async function chargeTwice(text: string, moment: "before" | "after") {
    await using proxy = await openCuttingProxy(await freshPostgres());
    const { charge, effects } = createCharge();
    await using runtime = createRuntime({ store: proxy.address });
    // The scope is known and the statements are prepared.
    await runtime.call(charge, { amount: 0 }, task);
    const ended: string[] = [];
    proxy.cutAt(text, moment);
    for (const _ of [1, 2]) {
      const call = runtime.call(charge, { amount: 1 }, { ...task, callKey: "the one" });
      ended.push(
        await call.then(
          ({ status }) => status,
          ({ code }: { code: string }) => code,
        ),
      );
    }
    return { ended, keys: effects.slice(1).map(({ key }) => key) };
  }

  test("rule 29: before the intent is committed is replaced, and the call runs once", async () => {
    const { ended, keys } = await chargeTwice("BEGIN", "before");
    expect(ended).toEqual(["success", "success"]);
    expect(keys).toHaveLength(1);
  });

  test.each(["before", "after"] as const)(
    "during the commit of the intent, %s the server receives it, asks the server for the outcome, and runs once",
    async (moment) => {
      const { ended, keys } = await chargeTwice("COMMIT", moment);
      expect(ended).toEqual(["success", "success"]);
      expect(keys).toHaveLength(1);
    },
  );

  test.each(["before", "after"] as const)(
    "during the commit of the outcome, %s the server receives it, loses nothing and repeats nothing",
    async (moment) => {
      await using proxy = await openCuttingProxy(await freshPostgres());
      const { charge, effects } = createCharge({}, (count) => {
        if (count === 2) proxy.cutAt("COMMIT", moment);
      });
      await using runtime = createRuntime({ store: proxy.address });
      await runtime.call(charge, { amount: 0 }, task);
      const call = () => runtime.call(charge, { amount: 1 }, { ...task, callKey: "the one" });
      expect(await call()).toMatchObject({ status: "success", replayed: false });
      expect(await call()).toMatchObject({ status: "success", replayed: true });
      expect(effects).toHaveLength(2);
    },
  );

  test.each(["before", "after"] as const)(
    "a commit that is cut off %s the server receives it fails if the server cannot report its outcome",
    async (moment) => {
      const address = await freshPostgres();
      const owner = await connectTo(address);
      const password = "limited";
      await owner.query(`CREATE ROLE ${roleOf(address)} LOGIN PASSWORD '${password}'`);
      await owner.query(`GRANT ALL ON SCHEMA public TO ${roleOf(address)}`);
      await owner.query("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
      const limited = new URL(address);
      limited.username = roleOf(address);
      limited.password = password;
      await using proxy = await openCuttingProxy(limited.href);
      const store = await open(proxy.address);
      await store.transaction(() => add("a"), "normal");
      proxy.cutAt("COMMIT", moment);
      await expect(store.transaction(() => add("b"), "normal")).rejects.toMatchObject({
        code: "TOOL_STORE_FAILED",
        message: expect.stringContaining("the outcome is unknown") as string,
      });
      expect(await names(store)).toEqual(moment === "before" ? ["a"] : ["a", "b"]);
    },
  );

  test.each([1, 3])(
    "during a commit of %i transactions, with an error of any kind, repeats nothing",
    async (count) => {
      const store = await open(await freshPostgresSchema());
      await store.transaction(() => add("a"), "normal");
      loseNextCommit();
      const calls = Array.from({ length: count }, () => store.transaction(addOne, "normal"));
      expect(await Promise.all(calls)).toEqual(times(count, 1));
      expect(await store.read(() => all("SELECT used FROM toolwright_usage"))).toEqual([{ used: 1 + count }]);
    },
  );

  test("while it is idle is replaced, with its prepared statements", async () => {
    const address = await freshPostgres();
    const store = await open(address);
    await store.transaction(() => add("a"), "normal");
    const other = await connectTo(address);
    await other.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    // Requested before this process has noticed it.
    await store.transaction(() => add("b"), "normal");
    expect(await names(store)).toEqual(["a", "b"]);
  });
});

test("statements that were prepared before another process added a column are prepared again", async () => {
  const address = await freshPostgresSchema();
  const store = await open(address);
  const read = () => store.read(() => all("SELECT * FROM toolwright_usage"));
  const write = () => store.transaction(() => all("SELECT * FROM toolwright_usage"), "normal");
  await Promise.all([read(), write(), read(), write()]);
  const other = await connectTo(address);
  await other.query("ALTER TABLE toolwright_usage ADD COLUMN later TEXT");
  await Promise.all([read(), write(), read(), write()]);
});

test("a process that was stopped in a transaction does not hold its locks forever", async () => {
  const store = await open(await freshPostgresSchema());
  const rows = await store.transaction(() => all("SHOW idle_in_transaction_session_timeout"), "normal");
  expect(rows).toEqual([{ idle_in_transaction_session_timeout: "30s" }]);
});

test("two schemas of one database are two stores", async () => {
  const [one, other] = [await open(await freshPostgresSchema()), await open(await freshPostgresSchema())];
  await one.transaction(() => add("a"), "normal");
  expect([await names(one), await names(other)]).toEqual([["a"], []]);
  expect(one.secret).not.toBe(other.secret);
});

test("calls are listed in the same order whatever the language of the database", async () => {
  const address = await freshPostgres();
  const client = await connectTo(address);
  await client.query(
    "CREATE DATABASE in_english TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en' LOCALE 'C'",
  );
  const english = new URL(address);
  english.pathname = "/in_english";
  const { charge } = createCharge();
  await using runtime = createRuntime({
    store: await open(english.href),
    clock: { now: () => 1_000, sleep: () => Promise.resolve() },
  });
  for (const nodeId of ["b", "a", "B"]) await runtime.call(charge, { amount: 1 }, { ...task, nodeId });
  expect((await runtime.calls()).map(({ nodeId }) => nodeId)).toEqual(["B", "a", "b"]);
});
