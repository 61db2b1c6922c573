/**
 * A process that is repeatedly killed at random moments. TOOLWRIGHT_CRASH_RUNS sets the number of kills per store, for
 * longer runs.
 */
import { describe, expect, test } from "vitest";
import { amount } from "../amount.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { createOrdersScenario } from "./orders-scenario.ts";
import { TOOL_KINDS } from "./programs/shop-tools.ts";

const KILLS = Number(process.env["TOOLWRIGHT_CRASH_RUNS"] ?? amount(16, 40));
const KILLS_PER_SCENARIO = 5;
const LONGEST_MS = 120;

describe.each(STORE_KINDS)("on $name", (storeKind) => {
  test.concurrent.each(TOOL_KINDS)(
    "a %s tool places each order once, whenever its process is killed",
    { timeout: 30_000 + KILLS * 5_000 },
    async (kind) => {
      let kills = 0;
      while (kills < KILLS / TOOL_KINDS.length) {
        await using scenario = await createOrdersScenario({ kind, storeKind, count: 5 });
        const moments: number[] = [];
        for (let start = 0; start < KILLS_PER_SCENARIO; start += 1) {
          const killAfterMs = Math.random() * LONGEST_MS;
          moments.push(killAfterMs);
          const { crashed } = await scenario.run({ killAfterMs });
          if (!crashed) break;
          kills += 1;
        }
        await expect(scenario.finish(), `killed after ${moments.join(", ")} ms`).resolves.toBeUndefined();
      }
    },
  );
});
