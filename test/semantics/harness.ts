/**
 * Helpers for the tests of the rules: a store that several runtimes open side by side, a simulated process crash, and
 * a manual clock. Only `openStores` knows which database is used.
 */
import { isCallEnd, isCallStart } from "../../src/store/tables/write-calls.ts";
import { type Clock, createRuntime, type Runtime, type RuntimeOptions, type Store } from "toolwright";
import { onTestFinished } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { all, change, type Row, type SqlValue } from "../../src/store/statement.ts";
import { emptyPostgresSchema } from "../postgres/fresh-postgres.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const [sqlite] = STORE_KINDS;

/** One database that can be opened more than once. */
export interface Stores {
  open(): Promise<Store>;
  close(): Promise<void>;
}

/** The rules hold on both stores: vitest.config.ts has a project that runs them on PostgreSQL. */
const isPostgres = process.env["TOOLWRIGHT_TEST_STORE"] === "postgres";

export async function openStores(): Promise<Stores> {
  const fresh = await (isPostgres ? emptyPostgresSchema() : sqlite.fresh());
  const opened: Store[] = [];
  return {
    async open() {
      const store = await openStore(fresh.address);
      opened.push(store);
      return counted(store);
    },
    async close() {
      for (const store of opened) await store.close();
      await fresh[Symbol.asyncDispose]();
    },
  };
}

export interface World {
  /** A runtime on its own connection, as another process would have. */
  runtime(options?: RuntimeOptions): Promise<Runtime>;
  open(): Promise<Store>;
  /** Marks every runtime so far as a dead process. Its running calls continue, but their results are ignored. */
  killAll(): Promise<void>;
  /** Reads any table. */
  rows(sql: string, ...parameters: SqlValue[]): Promise<readonly Row[]>;
  /** The log as stored in the table, in order. */
  log(runId: string): Promise<readonly Row[]>;
  /** Every stored text of every table, to check that a secret is absent. */
  dump(): Promise<string>;
}

/** Cleans up when the current test ends. */
export async function createWorld(): Promise<World> {
  const stores = await openStores();
  onTestFinished(() => stores.close());
  const own = await stores.open();
  const world: World = {
    open: () => stores.open(),
    runtime: async (options = {}) => createRuntime({ store: await stores.open(), ...options }),
    async killAll() {
      await own.transaction(() => change("UPDATE toolwright_owners SET ended_at_ms = {now}"), "normal");
    },
    rows: (sql, ...parameters) => own.read(() => all(sql, ...parameters)),
    log: (runId) =>
      world.rows("SELECT * FROM _smithers_tool_calls WHERE run_id = ?1 ORDER BY attempt, seq", runId),
    async dump() {
      const texts: string[] = [];
      for (const table of TABLES) texts.push(JSON.stringify(await world.rows(`SELECT * FROM ${table}`)));
      return texts.join("\n");
    },
  };
  return world;
}

const TABLES = [
  "toolwright_calls",
  "toolwright_payloads",
  "toolwright_approvals",
  "toolwright_claims",
  "toolwright_cache",
  "toolwright_usage",
  "toolwright_reservations",
  "toolwright_breakers",
  "toolwright_scopes",
];

export interface ManualClock extends Clock {
  /** Advances the time, and wakes sleepers in order once their time has passed. */
  advance(ms: number): Promise<void>;
  /** How long each sleeper asked for. */
  readonly sleeps: readonly number[];
}

export function createClock(start = 1_000_000): ManualClock {
  let now = start;
  let sleepers: { readonly at: number; wake(): void }[] = [];
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleeps.push(ms);
        if (signal?.aborted === true) {
          reject(signal.reason);
          return;
        }
        const sleeper = { at: now + ms, wake: resolve };
        sleepers.push(sleeper);
        signal?.addEventListener("abort", () => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          reject(signal.reason);
        });
      }),
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = sleepers.filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at);
        if (next === undefined) break;
        now = Math.max(now, next.at);
        sleepers = sleepers.filter((other) => other !== next);
        next.wake();
        await settle();
      }
      now = end;
      await settle();
    },
  };
}

/** How many operations the stores of this file are at. */
let operations = 0;

/** The same store. `settle` waits for its pending work. */
function counted(store: Store): Store {
  const count =
    <Given extends unknown[], T>(operate: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      operations += 1;
      try {
        return await operate(...given);
      } finally {
        operations -= 1;
      }
    };
  return Object.assign(store, {
    read: count(store.read.bind(store)),
    transaction: count(store.transaction.bind(store)),
    ...(store.commitAtOnce !== undefined && { commitAtOnce: count(store.commitAtOnce.bind(store)) }),
  });
}

/** Lets all pending work run that does not need time to pass. The answers of a server take as long as they take. */
export async function settle(): Promise<void> {
  const mostUntil = performance.now() + 10_000;
  for (let quietTurns = 0; quietTurns < 5; quietTurns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (operations === 0) continue;
    quietTurns = -1;
    // An operation that waits for the test itself, as one behind a lock does.
    if (performance.now() > mostUntil) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Waits in real time until the condition holds. The limit is long because other tests may keep the machine busy. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 4_000; tries += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("the condition was never met");
}

/** Sorts values of any type by their JSON. */
export function sorted<T>(values: readonly T[]): T[] {
  const text = (value: T): string => JSON.stringify(value) ?? "";
  return values.toSorted((one, other) => (text(one) < text(other) ? -1 : 1));
}

/** A list of `count` equal values. */
export function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

/** A promise that never settles: a tool whose process dies while it runs. */
export function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

export interface StoreWatch {
  /** Called with each statement of each transaction; a throw rolls the transaction back. */
  onStatement?(sql: string): void;
  onCommit?(statements: readonly string[], level: "full" | "normal"): void;
  onRead?(): void;
  onReadStatement?(sql: string): void;
}

/** The same store, watched. */
export function watchStore(store: Store, watch: StoreWatch): Store {
  return {
    dialect: store.dialect,
    secret: store.secret,
    async transaction(work, level) {
      let statements: string[] = [];
      const result = await store.transaction(function* () {
        statements = [];
        const inner = work();
        let step = inner.next();
        while (step.done !== true) {
          statements.push(step.value.sql);
          watch.onStatement?.(step.value.sql);
          step = inner.next(yield step.value);
        }
        return step.value;
      }, level);
      watch.onCommit?.(statements, level);
      return result;
    },
    read(work) {
      watch.onRead?.();
      return store.read(function* () {
        const inner = work();
        let step = inner.next();
        while (step.done !== true) {
          watch.onReadStatement?.(step.value.sql);
          step = inner.next(yield step.value);
        }
        return step.value;
      });
    },
    close: () => store.close(),
  };
}

/** Runs every transaction twice and rolls the first one back, as a store may after a conflict. */
export function repeatStore(store: Store): Store {
  const undo = new Error("once more");
  return {
    ...watchStore(store, {}),
    async transaction(work, level) {
      const first = store.transaction(function* () {
        yield* work();
        throw undo;
      }, level);
      await first.catch((error: unknown) => {
        if (error !== undo) throw error;
      });
      return store.transaction(work, level);
    },
  };
}

/** Fails after `most` statements and reads: an endless loop would keep the test's own timer from firing. */
export function boundStore(store: Store, most = 2_000): Store {
  let count = 0;
  const step = (): void => {
    count += 1;
    if (count > most) throw new Error(`the store was read more than ${most} times: this never ends`);
  };
  return watchStore(store, { onStatement: step, onRead: step });
}

/** Whether the statement stores the outcome of a call that has an intent. */
export function isFinish(sql: string): boolean {
  return isCallEnd({ kind: "change", sql, parameters: [] });
}

/** Whether the statement stores an intent. */
export function isIntent(sql: string): boolean {
  return (
    sql.startsWith("INSERT INTO toolwright_calls") || isCallStart({ kind: "change", sql, parameters: [] })
  );
}
