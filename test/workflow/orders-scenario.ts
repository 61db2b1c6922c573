/** One run of the orders workflow, whose process is restarted repeatedly, and its invariants. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { createRuntime } from "../../src/index.ts";
import { createCrashProgram, type CrashRunOptions } from "../../src/testing/index.ts";
import { openShop, type Shop } from "../crash/shop.ts";
import { bundled } from "../started-programs.ts";
import type { StoreKind } from "../store-kinds.ts";
import { createFolder, rowsOf } from "./harness.ts";
import { type ModelAnswer, type ModelPlace, openModelServer, placeName } from "./model-server.ts";
import type { OrdersWorkflowInput } from "./programs/orders-workflow.ts";

const program = createCrashProgram(bundled(new URL("./programs/orders-workflow.ts", import.meta.url)), {
  timeoutMs: 60_000,
});

export interface OrdersResult {
  readonly status?: string;
  readonly output?: unknown;
  readonly outputs?: Readonly<Record<string, readonly unknown[]>>;
  readonly error?: string;
  readonly code?: string;
}

export interface OrdersStart
  extends CrashRunOptions, Pick<OrdersWorkflowInput, "startAtMs" | "killAtCommit"> {}

export interface OrdersScenario extends AsyncDisposable {
  readonly shop: Shop;
  /** `undefined` when it was killed. Fails when the model receives a request whose response was already logged. */
  run(start?: OrdersStart): Promise<OrdersResult | undefined>;
  /** Fails unless the state equals the state of an undisturbed run. */
  expectFinished(result: OrdersResult | undefined): Promise<void>;
  readonly requests: readonly string[];
}

export async function createOrdersScenario(storeKind: StoreKind): Promise<OrdersScenario> {
  const store = await storeKind.fresh();
  const shop = await openShop(2);
  const model = await openModelServer(answerAt);
  const divergedFile = join(createFolder(), "diverged");
  writeFileSync(divergedFile, "");
  const rows = async (sql: string): Promise<Record<string, unknown>[]> => {
    if (!store.address.startsWith("postgres") && !existsSync(store.address)) return [];
    // A process that died early has created no tables.
    return rowsOf(store.address, sql);
  };
  const known = async (): Promise<{ responses: Set<string>; finished: string[] }> => {
    const responses = await rows(RESPONSES);
    const finished = await rows("SELECT node_id, iteration FROM toolwright_tasks WHERE status = 'finished'");
    return {
      responses: new Set(responses.map((row) => placeName(row as unknown as ModelPlace))),
      finished: finished.map((row) => `${String(row["node_id"])} ${String(row["iteration"])} `),
    };
  };
  return {
    shop,
    requests: model.requests,
    run: async ({ startAtMs, killAtCommit, ...options } = {}) => {
      const { responses, finished } = await known();
      const before = model.requests.length;
      const input: OrdersWorkflowInput = {
        store: store.address,
        shopUrl: shop.url,
        modelUrl: model.url,
        divergedFile,
        runId: "run-1",
        resume: (await rows("SELECT run_id FROM toolwright_workflow_runs")).length > 0,
        ...(startAtMs === undefined ? {} : { startAtMs }),
        ...(killAtCommit === undefined ? {} : { killAtCommit }),
      };
      const { crashed, stdout } = await program.run({ ...options, args: [JSON.stringify(input)] });
      const asked = model.requests.slice(before);
      const again = asked.filter(
        (place) => responses.has(place) || finished.some((task) => place.startsWith(task)),
      );
      expect(again, "asked for again").toEqual([]);
      return crashed ? undefined : (JSON.parse(stdout) as OrdersResult);
    },
    expectFinished: async (result) => {
      const placed = result?.outputs?.["placed"]?.toSorted(byText);
      expect({ ...result, outputs: { ...result?.outputs, placed } }).toEqual(EXPECTED);
      expect(shop.ledger.map(({ sku }) => sku).sort()).toEqual(EXPECTED_ORDERS);
      expect(await rows("SELECT * FROM toolwright_responses")).toEqual([]);
      expect(readFileSync(divergedFile, "utf8")).toBe("");
      await using runtime = createRuntime({ store: store.address });
      const open = (await runtime.calls()).filter(({ status }) => status !== "success");
      expect(open).toEqual([]);
      expect(await rows("SELECT * FROM toolwright_reservations")).toEqual([]);
    },
    [Symbol.asyncDispose]: async () => {
      await model[Symbol.asyncDispose]();
      await shop[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** The responses of agents inside of tools have no separate log. */
const RESPONSES = `SELECT s.node_id AS task, s.iteration AS pass, r.attempt AS attempt, r.position AS position
  FROM toolwright_responses r JOIN toolwright_scopes s ON s.id = r.scope_id WHERE s.parent_key = ''`;

const order = (toolName: string, ...skus: string[]) => skus.map((sku) => ({ toolName, input: { sku } }));

/** The responses of the model. The flaky one fails in its first attempt, after it has ordered. */
function answerAt({ task, pass, attempt, position }: ModelPlace): ModelAnswer | undefined {
  const sku = (name: string): string => `${task}-${pass}-${name}`;
  if (task.endsWith("-inner")) return position === 0 ? order("place_keyed", sku("e"), sku("f")) : "Ordered.";
  if (task === "flaky" && attempt === 1 && position === 1) return undefined;
  switch (position) {
    case 0:
      return [...order("place_keyed", sku("a"), sku("b")), ...order("place_business", sku("c"))];
    case 1:
      return [
        // The same article once more: a second order, before a crash and after it.
        ...order("place_keyed", sku("a")),
        ...order("place_reconciled", sku("d")),
        { toolName: "delegate", input: { task: `${task}-inner`, pass } },
      ];
    case 2:
      return "I have ordered everything.";
    default:
      return JSON.stringify({ task, pass, orders: 7 });
  }
}

const TASKS = [
  { task: "again", pass: 0 },
  { task: "again", pass: 1 },
  { task: "flaky", pass: 0 },
  { task: "left", pass: 0 },
  { task: "right", pass: 0 },
];

const EXPECTED_ORDERS = [
  ...TASKS.flatMap(({ task, pass }) => [
    ...["a", "a", "b", "c", "d"].map((sku) => `${task}-${pass}-${sku}`),
    ...["e", "f"].map((sku) => `${task}-inner-${pass}-${sku}`),
  ]),
  ...[0, 1].flatMap((pass) => ["a", "b"].map((sku) => `audit-${pass}-${sku}`)),
].sort();

/** Parallel tasks end in any order. */
const EXPECTED: OrdersResult = {
  status: "finished",
  output: { total: 35 },
  outputs: {
    placed: TASKS.map(({ task, pass }) => ({ task, pass, orders: 7 })).sort(byText),
    audit: [0, 1].map((pass) => ({ skus: [`audit-${pass}-a`, `audit-${pass}-b`] })),
    output: [{ total: 35 }],
  },
};

/** The requests of an undisturbed run, each once. */
export const EXPECTED_REQUESTS = TASKS.flatMap(({ task, pass }) => {
  const places = [0, 1, 2, 3].map((position) => ({
    task,
    pass,
    attempt: task === "flaky" ? 2 : 1,
    position,
  }));
  const inner = [0, 1].map((position) => ({ task: `${task}-inner`, pass, attempt: 1, position }));
  const failed = task === "flaky" ? [0, 1].map((position) => ({ task, pass, attempt: 1, position })) : [];
  return [...places, ...inner, ...failed].map(placeName);
}).sort();

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
