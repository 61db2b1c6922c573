/** The store waits for a PostgreSQL server that restarts: no call fails, and nothing happens twice. */
import dns from "node:dns";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { createRuntime } from "../../src/index.ts";
import { openPostgresStore } from "../../src/postgres.ts";
import { all, change } from "../../src/store/statement.ts";
import { type PostgresServer, startServer } from "../postgres/start-server.ts";
import { createCharge } from "../semantics/tools.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startServer(inject("publicRoot"));
});
afterAll(() => server.end());

const database = (): string => `${server.address}/postgres`;

test(
  "rule 29: calls in flight survive a restart in every phase, each with one effect",
  { timeout: 120_000 },
  async () => {
    const { charge, effects } = createCharge({}, () => new Promise((resolve) => setTimeout(resolve, 5)));
    await using runtime = createRuntime({ store: database() });
    await runtime.call(charge, { amount: 0 }, { runId: "r" });
    const restarted = new AbortController();
    const calls: Promise<{ status: string }>[] = [];
    const load = (async () => {
      for (let amount = 1; !restarted.signal.aborted || amount < 40; amount += 1) {
        calls.push(runtime.call(charge, { amount }, { runId: "r" }));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    await server.stop();
    await server.start();
    restarted.abort();
    await load;
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(["success"]));
    expect(effects).toHaveLength(calls.length + 1);
    expect(new Set(effects.map(({ key }) => key)).size).toBe(calls.length + 1);
  },
);

test(
  "a read and a transaction that start while the server is down end when it is back",
  { timeout: 60_000 },
  async () => {
    const store = await openPostgresStore({ connectionString: database() });
    await server.stop();
    const writing = store.transaction(() => change("UPDATE toolwright_usage SET used = used"), "normal");
    const reading = store.read(() => all("SELECT 1 AS one"));
    let isSettled = false;
    void Promise.allSettled([writing, reading]).then(() => (isSettled = true));
    // Longer than twenty quick tries take.
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(isSettled).toBe(false);
    await server.start();
    await writing;
    expect(await reading).toEqual([{ one: 1 }]);
    await store.close();
  },
);

test("a store without a wait reports immediately that the server is down", { timeout: 60_000 }, async () => {
  const store = await openPostgresStore({ connectionString: database(), retryMs: 0 });
  await server.stop();
  await expect(store.read(() => all("SELECT 1 AS one"))).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
  await expect(openPostgresStore({ connectionString: database() })).rejects.toMatchObject({
    code: "TOOL_STORE_FAILED",
    message: expect.stringContaining("ECONNREFUSED") as string,
  });
  await server.start();
  expect(await store.read(() => all("SELECT 1 AS one"))).toEqual([{ one: 1 }]);
  await store.close();
});

test(
  "a store waits while the name of the server is unknown: its container is stopped",
  { timeout: 60_000 },
  async () => {
    const named = new URL(database());
    named.hostname = "database.test";
    // Stands in for the name server of a container network, which knows the names of running containers only.
    let isRunning = true;
    let misses = 0;
    const missed = Promise.withResolvers<void>();
    const lookup = vi.spyOn(dns, "lookup").mockImplementation(((
      name: string,
      options: dns.LookupOptions,
      done: (error: Error | null, ...found: unknown[]) => void,
    ) => {
      if (isRunning)
        return options.all === true
          ? done(null, [{ address: "127.0.0.1", family: 4 }])
          : done(null, "127.0.0.1", 4);
      misses += 1;
      if (misses === 3) missed.resolve();
      done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" }));
    }) as typeof dns.lookup);
    try {
      const store = await openPostgresStore({ connectionString: named.href });
      await server.stop();
      isRunning = false;
      // At its start, an unknown name is more likely a wrong one.
      await expect(openPostgresStore({ connectionString: named.href })).rejects.toMatchObject({
        code: "TOOL_STORE_FAILED",
        message: expect.stringContaining("ENOTFOUND") as string,
      });
      expect(misses).toBe(1);
      const reading = store.read(() => all("SELECT 1 AS one"));
      await Promise.race([missed.promise, reading]);
      await server.start();
      isRunning = true;
      expect(await reading).toEqual([{ one: 1 }]);
      await store.close();
    } finally {
      lookup.mockRestore();
    }
  },
);
