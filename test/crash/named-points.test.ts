/** A process that is killed at each named point of a call: no order is lost, none is placed twice. */
import { describe, expect, test } from "vitest";
import { CRASH_POINTS, type CrashRunOptions } from "../../src/testing/index.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { createOrdersScenario } from "./orders-scenario.ts";
import { TOOL_KINDS } from "./programs/shop-tools.ts";

/** The second order, and for the effect the points before and after it. */
const MOMENTS = CRASH_POINTS.flatMap((point): (CrashRunOptions & { readonly name: string })[] =>
  point === "in-effect"
    ? [
        { name: "in the effect, before it happened", crashAt: point, occurrence: 3 },
        { name: "in the effect, after it happened", crashAt: point, occurrence: 4 },
      ]
    : [{ name: point.replace("-", " "), crashAt: point, occurrence: 2 }],
);

const [sqlite, postgres] = STORE_KINDS;

describe.each(TOOL_KINDS)("a %s tool", (kind) => {
  test.concurrent.each(MOMENTS)(
    "places each order once when killed $name, on SQLite",
    async ({ crashAt, occurrence }) => {
      await using scenario = await createOrdersScenario({ kind, storeKind: sqlite });
      expect((await scenario.run({ crashAt, occurrence })).crashed).toBe(true);
      await scenario.finish();
    },
  );

  test.concurrent("places each order once when killed at every point in turn, on PostgreSQL", async () => {
    await using scenario = await createOrdersScenario({ kind, storeKind: postgres, count: 3 });
    for (const crashAt of CRASH_POINTS) {
      expect((await scenario.run({ crashAt })).crashed).toBe(true);
    }
    await scenario.finish();
  });

  test.concurrent.each(STORE_KINDS)(
    "places each order once when killed during concurrent calls, on $name",
    async (storeKind) => {
      await using scenario = await createOrdersScenario({ kind, storeKind });
      expect((await scenario.run({ crashAt: "after-effect", occurrence: 4 })).crashed).toBe(true);
      await scenario.finish();
    },
  );
});
