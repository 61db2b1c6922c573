/**
 * A workflow of agents whose process is killed at random moments, again and again. TOOLWRIGHT_CRASH_RUNS is the number
 * of kills per store, for those who want more than the usual few.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createCrashProgram, type CrashRunOptions } from "../../src/testing/index.ts";
import { openShop, type Shop } from "../crash/shop.ts";
import { STORE_KINDS, type StoreKind } from "../store-kinds.ts";
import { createFolder, rowsOf } from "./harness.ts";
import type { OrdersWorkflowInput } from "./programs/orders-workflow.ts";

const KILLS = Number(process.env["TOOLWRIGHT_CRASH_RUNS"] ?? 40);
const KILLS_PER_RUN = 8;
const LONGEST_MS = 250;

const program = createCrashProgram(new URL("./programs/orders-workflow.ts", import.meta.url), {
  env: { NODE_COMPILE_CACHE: join(tmpdir(), "toolwright-test-compile-cache") },
  timeoutMs: 60_000,
});

interface Result {
  readonly status?: string;
  readonly output?: unknown;
  readonly outputs?: Readonly<Record<string, readonly unknown[]>>;
  readonly error?: string;
  readonly code?: string;
}

interface Scenario extends AsyncDisposable {
  readonly address: string;
  readonly shop: Shop;
  run(options?: CrashRunOptions & { readonly startAtMs?: number }): Promise<Result | undefined>;
  /** The requests to the model so far, each as task, pass and place. */
  requests(): string[];
  /** The responses that are on record now, likewise. */
  responses(): Promise<string[]>;
  finishedTasks(): Promise<string[]>;
}

async function createScenario(storeKind: StoreKind): Promise<Scenario> {
  const store = await storeKind.fresh();
  const shop = await openShop(2);
  const requestsFile = join(createFolder(), "requests");
  writeFileSync(requestsFile, "");
  const isKnown = async (): Promise<boolean> => {
    if (!store.address.startsWith("postgres") && !existsSync(store.address)) return false;
    const rows = await rowsOf(store.address, "SELECT run_id FROM toolwright_workflow_runs");
    return rows.length > 0;
  };
  return {
    address: store.address,
    shop,
    run: async ({ startAtMs, ...options } = {}) => {
      const input: OrdersWorkflowInput = {
        store: store.address,
        shopUrl: shop.url,
        requestsFile,
        runId: "run-1",
        resume: await isKnown(),
        ...(startAtMs === undefined ? {} : { startAtMs }),
      };
      const { crashed, stdout } = await program.run({ ...options, args: [JSON.stringify(input)] });
      return crashed ? undefined : (JSON.parse(stdout) as Result);
    },
    requests: () => readFileSync(requestsFile, "utf8").split("\n").slice(0, -1),
    responses: async () => {
      const rows = await rowsOf(
        store.address,
        `SELECT s.node_id AS node_id, s.iteration AS iteration, r.position AS position
         FROM toolwright_responses r JOIN toolwright_scopes s ON s.id = r.scope_id`,
      );
      return rows.map(
        (row) => `${String(row["node_id"])} ${String(row["iteration"])} ${String(row["position"])}`,
      );
    },
    finishedTasks: async () => {
      const rows = await rowsOf(
        store.address,
        "SELECT node_id, iteration FROM toolwright_tasks WHERE status = 'finished'",
      );
      return rows.map((row) => `${String(row["node_id"])} ${String(row["iteration"])}`);
    },
    [Symbol.asyncDispose]: async () => {
      await shop[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

const TASKS = ["left 0", "right 0", "middle 0", "again 0", "again 1", "again 2"];

function expectedOrders(): string[] {
  const ofAgents = TASKS.flatMap((task) => {
    const name = task.replace(" ", "-");
    return ["a", "a", "b", "c", "d"].map((sku) => `${name}-${sku}`);
  });
  const ofAudits = [0, 1, 2].flatMap((pass) => [`audit-${pass}-a`, `audit-${pass}-b`]);
  return [...ofAgents, ...ofAudits].sort();
}

/** What an undisturbed run comes to. Tasks that run side by side end in any order. */
const EXPECTED: Result = {
  status: "finished",
  output: { total: 30 },
  outputs: {
    placed: TASKS.map((place) => {
      const [task = "", pass = ""] = place.split(" ");
      return { task, pass: Number(pass), orders: 5 };
    }).sort(byText),
    audit: [0, 1, 2].map((pass) => ({ skus: [`audit-${pass}-a`, `audit-${pass}-b`] })),
    output: [{ total: 30 }],
  },
};

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

async function expectFinished(scenario: Scenario, result: Result | undefined): Promise<void> {
  expect({
    ...result,
    outputs: { ...result?.outputs, placed: result?.outputs?.["placed"]?.toSorted(byText) },
  }).toEqual(EXPECTED);
  expect(scenario.shop.ledger.map(({ sku }) => sku).sort()).toEqual(expectedOrders());
  expect(await scenario.responses()).toEqual([]);
}

describe.each(STORE_KINDS)("on $name", (storeKind) => {
  test("an undisturbed run places each order once and asks the model once for each turn", async () => {
    await using scenario = await createScenario(storeKind);
    await expectFinished(scenario, await scenario.run());
    const turns = TASKS.flatMap((task) => [0, 1, 2, 3].map((position) => `${task} ${position}`));
    expect(scenario.requests().sort()).toEqual(turns.sort());
  });

  test(
    "a run that is killed again and again has each effect once and asks for no response that is on record",
    { timeout: 60_000 + KILLS * 5_000 },
    async () => {
      let kills = 0;
      while (kills < KILLS) {
        await using scenario = await createScenario(storeKind);
        const moments: number[] = [];
        let result: Result | undefined;
        let known = new Set<string>();
        let finished: string[] = [];
        for (let start = 0; result === undefined; start += 1) {
          const before = scenario.requests().length;
          const killAfterMs = Math.random() * LONGEST_MS;
          const isLast = start >= KILLS_PER_RUN;
          if (!isLast) moments.push(Math.round(killAfterMs));
          result = await scenario.run(isLast ? {} : { killAfterMs });
          const asked = scenario.requests().slice(before);
          const told = `killed after ${moments.join(", ")} ms`;
          expect(
            asked.filter((request) => known.has(request)),
            `asked again, ${told}`,
          ).toEqual([]);
          expect(
            asked.filter((request) => finished.some((task) => request.startsWith(`${task} `))),
            `asked for a finished task, ${told}`,
          ).toEqual([]);
          if (result !== undefined) break;
          kills += 1;
          try {
            known = new Set(await scenario.responses());
            finished = await scenario.finishedTasks();
          } catch {
            // Killed before the tables were there.
          }
        }
        await expect(
          expectFinished(scenario, result),
          `killed after ${moments.join(", ")} ms: ${JSON.stringify(result)}`,
        ).resolves.toBeUndefined();
      }
    },
  );

  test("two processes that resume a run at once: one drives it, the other is refused", async () => {
    await using scenario = await createScenario(storeKind);
    expect(await scenario.run({ crashAt: "after-effect", occurrence: 5 })).toBeUndefined();
    const startAtMs = Date.now() + 2_500;
    const both = await Promise.all([scenario.run({ startAtMs }), scenario.run({ startAtMs })]);
    const refused = both.filter((result) => result?.code !== undefined);
    expect(refused.map((result) => result?.code)).toEqual(["TOOL_RUN_CONFLICT"]);
    await expectFinished(
      scenario,
      both.find((result) => result?.status !== undefined),
    );
  });
});
