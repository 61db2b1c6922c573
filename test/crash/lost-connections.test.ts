/** A database that drops its connections: calls fail and resume later, and no effect happens twice. */
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { expect, test } from "vitest";
import { createRuntime } from "../../src/index.ts";
import { freshPostgres } from "../postgres/fresh-postgres.ts";
import { shopProgram } from "./shop-program.ts";
import { openShop } from "./shop.ts";

const COUNT = 15;

/** Keeps cutting all other connections to the database until the signal aborts. */
async function cutConnections(address: string, signal: AbortSignal): Promise<void> {
  const client = new Client({ connectionString: address });
  await client.connect();
  while (!signal.aborted) {
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    await pause(Math.random() * 60);
  }
  await client.end();
}

test("orders are placed once each while the server cuts connections at random", async () => {
  const address = await freshPostgres();
  await using shop = await openShop(2);
  const program = shopProgram("survive-lost-connections", { args: [address, shop.url, String(COUNT)] });
  const controller = new AbortController();
  const cutting = cutConnections(address, controller.signal);
  // Connections are cut for a while, then stay up.
  setTimeout(() => controller.abort(), 4_000);
  const { crashed } = await program.run();
  controller.abort();
  await cutting;
  expect(crashed).toBe(false);
  expect(shop.ledger).toHaveLength(COUNT);
  await using runtime = createRuntime({ store: address });
  const calls = await runtime.calls({ runId: "run-1" });
  expect(calls.map(({ status }) => status)).toEqual(Array(COUNT).fill("success"));
});
