/**
 * A short soak of both stores. TOOLWRIGHT_SOAK_MINUTES runs a longer one, TOOLWRIGHT_SOAK_SEED another one. `npm run soak`
 * is the same from the command line.
 */
import { expect, inject, onTestFinished, test } from "vitest";
import { IS_EXHAUSTIVE } from "../amount.ts";
import { Random } from "../random.ts";
import { buildPrograms } from "./build-programs.ts";
import { planFault, planJob, planProcess, ROLES } from "./plan.ts";
import { runSoak, SMALL } from "./soak.ts";

const SECONDS = Number(process.env["TOOLWRIGHT_SOAK_MINUTES"] ?? 0) * 60 || 8;
const SEED = Number(process.env["TOOLWRIGHT_SOAK_SEED"] ?? 1);

test("the plan of a soak follows from its seed alone", () => {
  const planned = (seed: number): unknown => {
    const random = new Random(seed);
    return ROLES.map((role) => [
      planProcess(random.fork(`${role} 1`), role, 1),
      planFault(random.fork(`${role} fault`), "postgres"),
      planJob(random.fork(`${role} job`), "workflow", "a"),
    ]);
  };
  expect(planned(7)).toEqual(planned(7));
  expect(planned(7)).not.toEqual(planned(8));
});

// Its course depends on the speed of the machine, so it may find a fault that no other test knows: it runs every night.
test.runIf(IS_EXHAUSTIVE || process.env["TOOLWRIGHT_SOAK_MINUTES"] !== undefined)(
  "under kills, stops, restarts, full disks, cut connections and clock jumps each call has its effect once",
  { timeout: SECONDS * 1_000 + 600_000 },
  async () => {
    const programs = buildPrograms();
    onTestFinished(() => programs.remove());
    const { faults, counts } = await runSoak({
      seed: SEED,
      faultMs: SECONDS * 1_000,
      stores: ["sqlite", "postgres"],
      scale: SMALL,
      programs,
      publicRoot: inject("publicRoot"),
    });
    expect(faults, `seed ${SEED}`).toEqual([]);
    expect(counts["kills"]).toBeGreaterThan(0);
    expect(counts["jobs done"]).toBe(counts["jobs"]);
  },
);
