/** On PostgreSQL a statement that has waited for a row sees other tables as they were before. A run must not end by that. */
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createRuntime, defineTool, type Runtime, type Store } from "../../src/index.ts";
import { z } from "zod";
import { openStore } from "../../src/store/open-store.ts";
import { freshPostgres } from "../postgres/fresh-postgres.ts";
import { until, watchStore } from "../semantics/harness.ts";

const WAITING =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

async function connectTo(address: string): Promise<Client> {
  const client = new Client({ connectionString: address });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

function runtimeOn(store: string | Store): Runtime {
  const runtime = createRuntime({ store });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
  return runtime;
}

/** Transactions that take a scope wait for an advisory lock before they commit. */
function pauseInTake(store: Store): Store {
  return {
    ...watchStore(store, {}),
    transaction: (work, level) =>
      store.transaction(function* () {
        const inner = work();
        let isTaken = false;
        let step = inner.next();
        while (step.done !== true) {
          isTaken ||= step.value.sql.startsWith("UPDATE toolwright_scopes SET owner_id = ?2");
          step = inner.next(yield step.value);
        }
        if (isTaken)
          yield { kind: "query", sql: "SELECT 1 FROM pg_advisory_xact_lock_shared(7)", parameters: [] };
        return step.value;
      }, level),
  };
}

interface Gate {
  readonly reached: Promise<void>;
  readonly open: () => void;
  /** What the task does. */
  readonly pass: () => Promise<void>;
}

function gate(): Gate {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  // A failed test must not leave work behind.
  onTestFinished(() => opened.resolve());
  const pass = (): Promise<void> => {
    reached.resolve();
    return opened.promise;
  };
  return { reached: reached.promise, open: opened.resolve, pass };
}

/**
 * @param start starts the part of the run that ends while a task opens
 * @param isSameProcess the task opens in the runtime that has started the run
 */
async function openWhileOneEnds(
  start: (runtime: Runtime, work: () => Promise<void>) => Promise<unknown>,
  isSameProcess: boolean,
): Promise<void> {
  const address = await freshPostgres();
  const blocker = await connectTo(address);
  const watcher = await connectTo(address);
  const waiting = async (): Promise<number> => (await watcher.query(WAITING)).rowCount ?? 0;
  const stateOf = async (): Promise<unknown> =>
    (await watcher.query("SELECT state FROM toolwright_runs WHERE id = 'r'")).rows[0];
  const store = await openStore(address);
  onTestFinished(() => store.close());
  const other = runtimeOn(pauseInTake(store));
  const [ends, opens] = [gate(), gate()];
  const first = start(isSameProcess ? other : runtimeOn(address), ends.pass);
  await ends.reached;
  await blocker.query("SELECT pg_advisory_lock(7)");
  const second = other.run({ runId: "r", nodeId: "other" }, opens.pass);
  await until(async () => (await waiting()) === 1);
  ends.open();
  await until(async () => (await waiting()) === 2);
  await blocker.query("SELECT pg_advisory_unlock(7)");
  await Promise.all([first, opens.reached]);
  expect(await stateOf()).toEqual({ state: "running" });
  opens.open();
  await second;
  expect(await stateOf()).toEqual({ state: "finished" });
}

const task = (runtime: Runtime, work: () => Promise<void>): Promise<unknown> =>
  runtime.run({ runId: "r", nodeId: "one" }, work);

const call = (runtime: Runtime, work: () => Promise<void>): Promise<unknown> =>
  runtime.call(defineTool({ name: "wait", schema: z.object({}), execute: work }), {}, { runId: "r" });

test("a run stays open if one of its tasks ends while another process opens the next one", () =>
  openWhileOneEnds(task, false));

test("a run stays open if its only call ends while another process opens a task of it", () =>
  openWhileOneEnds(call, false));

test("a run stays open if its only call ends while the same process opens a task of it", () =>
  openWhileOneEnds(call, true));
