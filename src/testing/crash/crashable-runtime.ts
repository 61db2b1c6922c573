/** A runtime that stops at the crash points of its calls. In every other respect it is the normal runtime. */
import { createRuntime } from "../../runtime/create-runtime.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { checkRuntimeOptions, type RuntimeOptions } from "../../runtime/options.ts";
import { LazyStore } from "../../store/lazy-store.ts";
import { openStore } from "../../store/open-store.ts";
import type { Store, Transaction } from "../../store/store.ts";
import { isCallEnd, isCallStart } from "../../store/tables/write-calls.ts";
import { reachCrashPoint } from "./crash-point.ts";

/**
 * For the program that a test kills. Takes the options of `createRuntime`.
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
    // Events are emitted right after the commit.
    if (event.type === "call-started") reachCrashPoint("after-intent");
    if (event.type === "call-finished" && !event.replayed) reachCrashPoint("after-outcome");
  });
  const dispose = runtime[Symbol.asyncDispose].bind(runtime);
  runtime[Symbol.asyncDispose] = async () => {
    await dispose();
    // The runtime closes only stores that it opened.
    if (typeof given !== "object" && store.isOpen) await store.close();
  };
  // For a test that kills after a delay: the delay starts now.
  process.send?.("begun");
  return runtime;
}

function watchStore(store: Store): Store {
  return {
    ...passedOn(store),
    dialect: store.dialect,
    secret: store.secret,
    transaction: (work, level, isAlone) => store.transaction(() => watchTransaction(work()), level, isAlone),
    commitAtOnce: (work, level) => {
      const watched = (): ReturnType<typeof work> => watchTransaction(work());
      return store.commitAtOnce?.(watched, level) ?? store.transaction(watched, level);
    },
    read: (work) => store.read(work),
    close: () => store.close(),
  };
}

/** Optional in a store, and required by a worker. */
function passedOn(store: Store): Partial<Store> {
  return {
    path: store.path,
    connectionString: store.connectionString,
    version: () => store.version?.() ?? Promise.resolve(String(performance.now())),
    limitIdle: (ms) => store.limitIdle?.(ms),
    assertInPlace: () => store.assertInPlace?.(),
  };
}

function* watchTransaction<T>(transaction: Transaction<T>): Transaction<T> {
  let step = transaction.next();
  while (step.done !== true) {
    const statement = step.value;
    // The process must stop before the commit, so the statement is not committed on its own.
    const result = yield { ...statement, isLast: false };
    if (isCallStart(statement)) reachCrashPoint("before-intent");
    if (isCallEnd(statement)) reachCrashPoint("after-effect");
    step = transaction.next(result);
  }
  return step.value;
}
