/** A runtime that knows the named points of its calls. Everything else about it is the runtime as it is. */
import { createRuntime } from "../../runtime/create-runtime.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { checkRuntimeOptions, type RuntimeOptions } from "../../runtime/options.ts";
import { LazyStore } from "../../store/lazy-store.ts";
import { openStore } from "../../store/open-store.ts";
import type { SqlValue, Statement } from "../../store/statement.ts";
import type { Store, Transaction } from "../../store/store.ts";
import { reachCrashPoint } from "./crash-point.ts";

/**
 * For the program that is to be killed. Takes the options of `createRuntime`.
 *
 * @example
 * // program.ts
 * await using runtime = createCrashableRuntime({ store: process.argv[2] });
 * await runtime.call(placeOrder, { sku: "A-1" }, { runId: "run-1" });
 */
export function createCrashableRuntime(options: RuntimeOptions = {}): Runtime {
  checkRuntimeOptions(options);
  const given = options.store;
  const isPostgres =
    typeof given === "string" ? /^postgres(ql)?:/.test(given) : given?.dialect === "postgres";
  const store = new LazyStore(isPostgres ? "postgres" : "sqlite", async () =>
    watchStore(await openStore(given)),
  );
  const runtime = createRuntime({ ...options, store });
  runtime.subscribe((event) => {
    // Events come right after the commit, before anything else is done with it.
    if (event.type === "call-started") reachCrashPoint("after-intent");
    if (event.type === "call-finished" && !event.replayed) reachCrashPoint("after-outcome");
  });
  const dispose = runtime[Symbol.asyncDispose].bind(runtime);
  runtime[Symbol.asyncDispose] = async () => {
    await dispose();
    // The runtime did not open this store, so it leaves it open.
    if (typeof given !== "object" && store.isOpen) await store.close();
  };
  // Tells a test that kills after a delay that the program itself begins now.
  process.send?.("begun");
  return runtime;
}

function watchStore(store: Store): Store {
  return {
    dialect: store.dialect,
    secret: store.secret,
    transaction: (work, level) => store.transaction(() => watchTransaction(work()), level),
    commitAtOnce: (work, level) => {
      const watched = (): ReturnType<typeof work> => watchTransaction(work());
      return store.commitAtOnce?.(watched, level) ?? store.transaction(watched, level);
    },
    read: (work) => store.read(work),
    close: () => store.close(),
  };
}

function* watchTransaction<T>(transaction: Transaction<T>): Transaction<T> {
  let step = transaction.next();
  while (step.done !== true) {
    const statement = step.value;
    const result = yield statement;
    if (isIntent(statement)) reachCrashPoint("before-intent");
    if (isOutcome(statement)) reachCrashPoint("after-effect");
    step = transaction.next(result);
  }
  return step.value;
}

function isIntent({ sql }: Statement): boolean {
  return (
    /^(INSERT INTO|UPDATE) toolwright_calls\b/.test(sql) && /(SET status = |BIGINT\), )'started'/.test(sql)
  );
}

/** The end of a call that was tried. A pure call has no intent: its row is made when it has ended. */
function isOutcome(statement: Statement): boolean {
  const row = insertedAs(statement);
  if (row !== undefined) return Number(row["tries"] ?? 0) > 0;
  return statement.sql.startsWith("UPDATE toolwright_calls") && /\btries = \?/.test(statement.sql);
}

/** The columns of a new row of a call; their parameters stand in the same order. */
function insertedAs({ sql, parameters }: Statement): Record<string, SqlValue> | undefined {
  const [, columns] = /^INSERT INTO toolwright_calls\s*\(([^)]*)\)/.exec(sql) ?? [];
  const names = columns?.split(",").map((name) => name.trim());
  return names && Object.fromEntries(names.map((name, index) => [name, parameters[index] ?? null]));
}
