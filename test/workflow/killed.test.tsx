/**
 * A workflow of agents whose process is repeatedly killed: after a time, or right after a commit.
 * TOOLWRIGHT_CRASH_SEED determines the moments; TOOLWRIGHT_CRASH_RUNS sets the number of kills per store.
 */
import { describe, expect, test } from "vitest";
import { amount } from "../amount.ts";
import { STORE_KINDS, type StoreKind } from "../store-kinds.ts";
import {
  createOrdersScenario,
  EXPECTED_REQUESTS,
  type OrdersResult,
  type OrdersStart,
} from "./orders-scenario.ts";
import { createRandom } from "../random.ts";

const SEED = Number(process.env["TOOLWRIGHT_CRASH_SEED"] ?? 1);
const KILLS = Number(process.env["TOOLWRIGHT_CRASH_RUNS"] ?? amount(12, 30));
const KILLS_PER_RUN = 6;
const LONGEST_MS = 250;
/** A run has some 200; the first of each start open the store and claim the run. */
const MOST_COMMITS = 90;

function momentOf(random: () => number): OrdersStart {
  return random() < 0.5
    ? { killAfterMs: Math.round(random() * LONGEST_MS) }
    : { killAtCommit: 1 + Math.floor(random() ** 2 * MOST_COMMITS) };
}

/** One run, from start to end. Returns how often it was killed. */
async function killAndFinish(storeKind: StoreKind, random: () => number): Promise<number> {
  await using scenario = await createOrdersScenario(storeKind);
  const moments: OrdersStart[] = [];
  try {
    let result: OrdersResult | undefined;
    while (result === undefined && moments.length < KILLS_PER_RUN) {
      const moment = momentOf(random);
      result = await scenario.run(moment);
      if (result === undefined) moments.push(moment);
    }
    await scenario.expectFinished(result ?? (await scenario.run()));
    return moments.length;
  } catch (error) {
    throw new Error(`seed ${SEED}, killed at ${JSON.stringify(moments)}`, { cause: error });
  }
}

describe.each(STORE_KINDS)("on $name", (storeKind) => {
  test(
    "an undisturbed run places each order once and sends one request for each turn",
    { timeout: 90_000 },
    async () => {
      await using scenario = await createOrdersScenario(storeKind);
      await scenario.expectFinished(await scenario.run());
      expect(scenario.requests.toSorted()).toEqual(EXPECTED_REQUESTS);
    },
  );

  test(
    "a run that is repeatedly killed has each effect once and requests no logged response again",
    { timeout: 60_000 + KILLS * 5_000 },
    async () => {
      const random = createRandom(SEED);
      let kills = 0;
      while (kills < KILLS) kills += await killAndFinish(storeKind, random);
    },
  );
});
