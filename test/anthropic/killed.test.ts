/**
 * A loop whose process is repeatedly killed at random moments, which a seed determines. TOOLWRIGHT_CRASH_RUNS sets the
 * number of kills per store.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  type AnthropicRequest,
  createCrashProgram,
  createScriptedAnthropic,
  type ScriptedAnthropic,
} from "../../src/testing/index.ts";
import { openShop } from "../crash/shop.ts";
import { amount } from "../amount.ts";
import { bundled } from "../started-programs.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { rowsOf } from "../workflow/harness.ts";
import type { OrdersLoopInput } from "./programs/orders-loop.ts";
import { Random } from "../random.ts";

const KILLS = Number(process.env["TOOLWRIGHT_CRASH_RUNS"] ?? amount(8, 20));
const KILLS_PER_RUN = 7;
const LONGEST_MS = 260;

const program = createCrashProgram(bundled(new URL("./programs/orders-loop.ts", import.meta.url)), {
  timeoutMs: 60_000,
});

/** The index of the requested response, from 0. */
function placeOf({ body }: AnthropicRequest): number {
  return body.messages.filter(({ role }) => role === "assistant").length;
}

const order = (kind: string, ...skus: string[]) =>
  skus.map((sku) => ({ toolName: `place_${kind}`, input: { sku }, toolCallId: randomUUID() }));

const TURNS = [
  () => [...order("keyed", "a", "b"), ...order("business", "c")],
  // The same article once more: a second order, before a crash and after it.
  () => [...order("keyed", "a"), ...order("reconciled", "d")],
  () => order("keyed", "e", "f", "g"),
  () => [
    ...order("business", "h"),
    { toolName: "complete_task", input: { summary: "all" }, toolCallId: randomUUID() },
  ],
];
const ORDERS = ["a", "a", "b", "c", "d", "e", "f", "g", "h"];

function createModel(): Promise<ScriptedAnthropic> {
  const answer = async (request: AnthropicRequest) => {
    await pause(8);
    return TURNS[placeOf(request)]?.() ?? "What else?";
  };
  return createScriptedAnthropic([answer], { atEnd: "repeat-last" });
}

async function placesOnRecord(address: string): Promise<number[]> {
  if (!address.startsWith("postgres") && !existsSync(address)) return [];
  try {
    const rows = await rowsOf(address, "SELECT position FROM toolwright_responses");
    return rows.map(({ position }) => Number(position));
  } catch {
    // Killed before the tables existed.
    return [];
  }
}

describe.each(STORE_KINDS)("on $name", (storeKind) => {
  test.each([1, 2])(
    "a loop that is repeatedly killed has each effect once and requests no logged response again (seed %i)",
    { timeout: 60_000 + KILLS * 5_000 },
    async (seed) => {
      const random = new Random(seed);
      let kills = 0;
      while (kills < KILLS / 2) {
        await using store = await storeKind.fresh();
        await using shop = await openShop(2);
        await using model = await createModel();
        const input: OrdersLoopInput = {
          store: store.address,
          shopUrl: shop.url,
          baseURL: model.baseURL,
          stream: random.below(2) === 0,
        };
        const args = [JSON.stringify(input)];
        const moments: number[] = [];
        let result: string | undefined;
        while (result === undefined) {
          const known = await placesOnRecord(store.address);
          const before = model.requests.length;
          const isLast = moments.length >= KILLS_PER_RUN;
          const killAfterMs = random.below(LONGEST_MS);
          if (!isLast) moments.push(killAfterMs);
          const run = await program.run(isLast ? { args } : { args, killAfterMs });
          const told = `killed after ${moments.join(", ")} ms`;
          const asked = model.requests.slice(before).map(placeOf);
          expect(
            asked.filter((place) => known.includes(place)),
            `asked again, ${told}`,
          ).toEqual([]);
          if (run.crashed) kills += 1;
          else result = run.stdout;
        }
        const told = `killed after ${moments.join(", ")} ms`;
        expect(JSON.parse(result), told).toEqual({
          status: "complete",
          reason: "Task completed: all",
          messages: 9,
        });
        expect(shop.ledger.map(({ sku }) => sku).sort(), told).toEqual(ORDERS);
        expect(model.refused, told).toEqual([]);
        expect(await placesOnRecord(store.address), told).toEqual([]);
        // Finished: the stored result is returned.
        const count = model.requests.length;
        expect((await program.run({ args })).stdout, told).toBe(result);
        expect(model.requests, told).toHaveLength(count);
      }
    },
  );
});
