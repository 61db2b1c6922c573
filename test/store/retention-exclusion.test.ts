/** Retention while processes use a run, and while owners may be alive. */
import { spawn } from "node:child_process";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { createRuntime, type Runtime } from "../../src/index.ts";
import { openStore } from "../../src/store/open-store.ts";
import { registerOwner } from "../../src/store/tables/owners.ts";
import { all, change } from "../../src/store/statement.ts";
import { identifyProcess } from "../../src/runtime/process-identity.ts";
import { freshPostgres } from "../postgres/fresh-postgres.ts";
import { until } from "../semantics/harness.ts";
import { createCharge } from "../semantics/tools.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const DAY = 86_400_000;

function runtimeOn(store: string): Runtime {
  const runtime = createRuntime({ store });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
  return runtime;
}

async function connectTo(address: string): Promise<Client> {
  const client = new Client({ connectionString: address });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const WAITING =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

test.each(["runtime.run", "runtime.call"])(
  "rule 30: another task that %s opens while retention deletes the run waits for it, and is refused without an effect",
  async (how) => {
    const address = await freshPostgres();
    const { charge, effects } = createCharge();
    const runtime = runtimeOn(address);
    await runtime.call(charge, { amount: 1 }, { runId: "r" });
    const blocker = await connectTo(address);
    const watcher = await connectTo(address);
    const waiting = async (): Promise<number> => (await watcher.query(WAITING)).rowCount ?? 0;
    // Retention reaches this row after it has deleted the calls, and before it is done.
    await blocker.query("INSERT INTO toolwright_usage (run_id, name) VALUES ('r', 'n')");
    await blocker.query("BEGIN; SELECT * FROM toolwright_usage WHERE run_id = 'r' FOR UPDATE");
    const collecting = runtimeOn(address).gc({ olderThanMs: 0 });
    await until(async () => (await waiting()) === 1);
    const task = { runId: "r", nodeId: "further" };
    const opening =
      how === "runtime.run"
        ? runtime.run(task, () => charge.invoke({ amount: 2 }))
        : runtime.call(charge, { amount: 2 }, task);
    const refused = opening.catch((error: unknown) => error);
    await until(async () => (await waiting()) === 2 || effects.length === 2);
    await blocker.query("COMMIT");
    expect(await collecting).toMatchObject({ deletedRuns: 1 });
    expect(await refused).toMatchObject({ code: "TOOL_RUN_DELETED" });
    expect(effects).toHaveLength(1);
    for (const table of ["scopes", "calls"])
      expect((await watcher.query(`SELECT * FROM toolwright_${table}`)).rows).toEqual([]);
  },
);

describe.each(STORE_KINDS)("on $name", (kind) => {
  async function freshAddress(): Promise<string> {
    const fresh = await kind.fresh();
    onTestFinished(() => fresh[Symbol.asyncDispose]());
    return fresh.address;
  }

  test("rule 30: a call in a run that retention deleted while the runtime had it open says that it was deleted", async () => {
    const runtime = runtimeOn(await freshAddress());
    const { charge, effects } = createCharge();
    const call = () => runtime.call(charge, { amount: 1 }, { runId: "r" }).catch((error: unknown) => error);
    await call();
    await until(async () => (await runtime.gc({ olderThanMs: 0 })).deletedRuns === 1);
    expect(await call()).toMatchObject({ code: "TOOL_RUN_DELETED" });
    expect(await call()).toMatchObject({ code: "TOOL_RUN_DELETED" });
    expect(effects).toHaveLength(1);
  });

  test("rule 27: keeps the rows of owners that may be alive, and deletes the rows of dead ones", async () => {
    const address = await freshAddress();
    const store = await openStore(address);
    onTestFinished(() => store.close());
    const child = spawn("sleep", ["60"]);
    onTestFinished(() => void child.kill("SIGKILL"));
    child.kill("SIGSTOP");
    const { readFileSync } = await import("node:fs");
    const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
    const processStart = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
    const here = identifyProcess();
    const owners = [
      ["stopped here", { ...here, pid: child.pid ?? 0, processStart }, DAY * 40],
      ["another thread here", here, DAY * 40],
      ["silent elsewhere", { ...here, host: "elsewhere" }, DAY],
      ["gone here", { ...here, pid: 1_999_999, processStart: "1" }, 60_000],
      ["long gone elsewhere", { ...here, host: "elsewhere" }, DAY * 8],
    ] as const;
    for (const [id, identity, silentMs] of owners) {
      await store.transaction(function* () {
        yield* registerOwner({ id, ...identity });
        yield* change(
          "UPDATE toolwright_owners SET lease_until_ms = {now} - CAST(?2 AS BIGINT) WHERE id = ?1",
          id,
          silentMs,
        );
      }, "normal");
    }
    await runtimeOn(address).gc({ olderThanMs: 0 });
    const rows = await store.read(() =>
      all("SELECT id FROM toolwright_owners WHERE lease_until_ms < {now} ORDER BY id"),
    );
    expect(rows.map(({ id }) => id)).toEqual(["another thread here", "silent elsewhere", "stopped here"]);
  });
});
