/** Rule 27: after the clock of the database was set back, the lease of a dead owner still ends. */
import { createWorker } from "toolwright";
import { expect, it } from "vitest";
import { change } from "../../src/store/statement.ts";
import { LEASE_MS, readOwner, registerOwner } from "../../src/store/tables/owners.ts";
import { createWorld } from "./harness.ts";

const DAY = 86_400_000;

it("rule 27: heartbeats shorten leases that were written before the clock was set back", async () => {
  const world = await createWorld();
  const store = await world.open();
  const elsewhere = { host: "another host", pid: 1, processStart: "1" };
  await store.transaction(function* () {
    for (const id of ["dead", "ended", "alive"]) yield* registerOwner({ id, ...elsewhere });
    // As if the owners had written their leases before the clock went back by a day.
    yield* change(
      `UPDATE toolwright_owners SET lease_until_ms = lease_until_ms + ${DAY} WHERE id IN ('dead', 'ended')`,
    );
    yield* change("UPDATE toolwright_owners SET ended_at_ms = {now} WHERE id = 'ended'");
  }, "normal");
  const leaseOf = async (id: string): Promise<number> =>
    (await store.read(() => readOwner(id)))?.leaseLeftMs ?? Number.NaN;
  // A worker with a short lease has frequent heartbeats.
  const programs = { idle: () => "done" };
  await using worker = createWorker({ runtime: await world.runtime(), programs, leaseMs: 2_000 });
  await worker.start();
  await expect.poll(() => leaseOf("dead")).toBeLessThanOrEqual(LEASE_MS);
  // It counts in full from then on: a live owner has the time to renew it.
  expect(await leaseOf("dead")).toBeGreaterThan(0);
  expect(await leaseOf("ended")).toBeGreaterThan(DAY);
  expect(await leaseOf("alive")).toBeLessThanOrEqual(LEASE_MS);
});
