/** Orders that must be placed once each, even if the program that places them is killed. */
import { expect } from "vitest";
import { createRuntime, type LoggedCall } from "../../src/index.ts";
import type { CrashRunOptions, ProgramRun } from "../../src/testing/index.ts";
import type { StoreKind } from "../store-kinds.ts";
import type { ToolKind } from "./programs/shop-tools.ts";
import { shopProgram } from "./shop-program.ts";
import { openShop, type Order, type Shop } from "./shop.ts";

export interface OrdersOptions {
  readonly kind: ToolKind;
  readonly storeKind: StoreKind;
  /** How many orders are placed in sequence, and how many concurrently. */
  readonly count?: number;
}

export interface OrdersScenario extends AsyncDisposable {
  readonly shop: Shop;
  run(options?: CrashRunOptions): Promise<ProgramRun>;
  /** Resumes until everything is decided, and checks that each order was placed and logged once. */
  finish(): Promise<void>;
}

export async function createOrdersScenario({
  kind,
  storeKind,
  count = 2,
}: OrdersOptions): Promise<OrdersScenario> {
  const store = await storeKind.fresh();
  const shop = await openShop();
  const program = shopProgram("place-orders");
  let runs = 0;
  // A business key applies across runs, so with one every start is another run.
  const runId = (): string => (kind === "business" ? `run-${runs}` : "run-1");
  const run = (options: CrashRunOptions = {}): Promise<ProgramRun> => {
    runs += 1;
    return program.run({ ...options, args: [store.address, shop.url, kind, runId(), String(count)] });
  };

  const decide = async (): Promise<number> => {
    await using runtime = createRuntime({ store: store.address });
    const approvals = await runtime.approvals({ status: "pending" });
    for (const { id, kind: asked, args } of approvals) {
      expect(asked).toBe("replay");
      const placed = findOrder(shop, args);
      await runtime.resolveToolApproval(
        id,
        placed === undefined ? { resolution: "run-again" } : { resolution: "happened", output: placed },
      );
    }
    return approvals.length;
  };

  const finish = async (): Promise<void> => {
    await run();
    expectNoneTwice(shop);
    const asked = await decide();
    // Only a tool that cannot be reconciled needs approval.
    if (kind === "blind") {
      if (asked > 0) await run();
    } else expect(asked).toBe(0);
    await expectAllOnce(store.address, shop, runId(), count);
  };

  return {
    shop,
    run,
    finish,
    [Symbol.asyncDispose]: async () => {
      await shop[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

function findOrder(shop: Shop, args: unknown): Order | undefined {
  const { sku } = args as { sku: string };
  return shop.ledger.find((order) => order.sku === sku);
}

function expectNoneTwice(shop: Shop): void {
  const skus = shop.ledger.map(({ sku }) => sku);
  expect(skus).toEqual([...new Set(skus)]);
}

async function expectAllOnce(address: string, shop: Shop, runId: string, count: number): Promise<void> {
  const expected = ["one", "batch"].flatMap((sort) =>
    Array.from({ length: count }, (_, index) => `${sort}-${index + 1}`),
  );
  expect(shop.ledger.map(({ sku }) => sku).sort()).toEqual(expected.toSorted());
  await using runtime = createRuntime({ store: address });
  const calls = await runtime.calls({ runId });
  expect(calls.map(({ status }) => status)).toEqual(expected.map(() => "success"));
  expect(calls.map((call) => JSON.parse(call.outputJson ?? "") as unknown).sort(byId)).toEqual(
    shop.ledger.toSorted(byId),
  );
  expect(new Set(calls.map(place)).size).toBe(expected.length);
}

function byId(one: unknown, other: unknown): number {
  return (one as Order).id - (other as Order).id;
}

function place({ nodeId, attempt, seq }: LoggedCall): string {
  return `${nodeId} ${attempt} ${seq}`;
}
