/** Two processes on one store at the same time. */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createRuntime, type Runtime } from "../../src/index.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { CrashRunOptions } from "../../src/testing/index.ts";
import { type FreshStore, STORE_KINDS } from "../store-kinds.ts";
import type { CallOrdersInput, CallOrdersOutcome } from "./programs/call-orders.ts";
import { createOrderTool } from "./programs/shop-tools.ts";
import { shopProgram } from "./shop-program.ts";
import { openShop, type Shop } from "./shop.ts";

const program = shopProgram("call-orders");

async function callOrders(input: CallOrdersInput, options?: CrashRunOptions): Promise<CallOrdersOutcome[]> {
  const { stdout } = await program.run({ ...options, args: [JSON.stringify(input)] });
  return stdout === "" ? [] : (JSON.parse(stdout) as CallOrdersOutcome[]);
}

/** One order of a tool that passes its key on, by default. */
function orders(store: FreshStore, shop: Shop, others: Partial<CallOrdersInput> = {}): CallOrdersInput {
  return { store: store.address, shopUrl: shop.url, kind: "keyed", runId: "run-1", skus: ["a"], ...others };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(5);
}

interface Waiter extends AsyncDisposable {
  readonly runtime: Runtime;
  /** Resolves when one of its calls waits for another one, that is, when it polls the store. */
  waits(): Promise<void>;
}

const MORE_LOOKS_THAN_A_CALL_NEEDS = 20;

/** This process as the second of the two. */
async function createWaiter({ address }: FreshStore): Promise<Waiter> {
  const store = await openStore(address);
  let looks = 0;
  const runtime = createRuntime({
    store: {
      dialect: store.dialect,
      secret: store.secret,
      transaction: (work, level) => store.transaction(work, level),
      read: (work) => {
        looks += 1;
        return store.read(work);
      },
      close: () => store.close(),
    },
  });
  return {
    runtime,
    waits: () => until(() => looks > MORE_LOOKS_THAN_A_CALL_NEEDS),
    [Symbol.asyncDispose]: async () => {
      await runtime[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

function skusOf(shop: Shop): string[] {
  return shop.ledger.map(({ sku }) => sku).sort();
}

describe.each(STORE_KINDS)("on $name", (storeKind) => {
  test.concurrent("an approved call that both resume at once has one effect", async () => {
    await using store = await storeKind.fresh();
    await using shop = await openShop();
    const skus = ["a", "b", "c", "d"];
    const policies = { needsApproval: true };
    await using runtime = createRuntime({ store: store.address });
    const tool = createOrderTool("blind", shop.url, policies);
    for (const sku of skus) {
      const outcome = await runtime.call(tool, { sku }, { runId: "run-1" });
      if (outcome.status !== "pending") throw new Error(`${sku} is ${outcome.status}`);
      await runtime.resolveToolApproval(outcome.approval.id, { approved: true });
    }
    const input = orders(store, shop, { kind: "blind", policies, skus, meets: true });
    const both = await Promise.all([callOrders(input), callOrders(input)]);
    expect(both.flat().map(({ status }) => status)).toEqual(Array(8).fill("success"));
    expect(both.flat().filter(({ replayed }) => replayed)).toHaveLength(4);
    expect(skusOf(shop)).toEqual(skus);
    expect((await runtime.calls({ runId: "run-1" })).map(({ status }) => status)).toEqual(
      Array(4).fill("success"),
    );
  });

  test.concurrent("an approved call that was cut off resumes without a second approval", async () => {
    await using store = await storeKind.fresh();
    await using shop = await openShop();
    const input = orders(store, shop, { policies: { needsApproval: true } });
    expect(await callOrders(input)).toMatchObject([{ status: "pending" }]);
    await using runtime = createRuntime({ store: store.address });
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    expect(await callOrders(input, { crashAt: "after-effect" })).toEqual([]);
    expect(await callOrders(input)).toMatchObject([{ status: "success" }]);
    expect(await runtime.approvals({ status: "pending" })).toEqual([]);
    expect(skusOf(shop)).toEqual(["a"]);
  });

  test.concurrent.each(["keyed", "reconciled"] as const)(
    "a cut off call of a %s tool that both resume at once has one effect",
    async (kind) => {
      await using store = await storeKind.fresh();
      await using shop = await openShop(50);
      const input = orders(store, shop, { kind });
      expect(await callOrders(input, { crashAt: "after-intent" })).toEqual([]);
      const resume = { ...input, meets: true };
      const both = await Promise.all([callOrders(resume), callOrders(resume)]);
      expect(both.flat().map(({ status }) => status)).toEqual(["success", "success"]);
      expect(shop.requests).toBe(1);
    },
  );

  test.concurrent("a cut off call in doubt has one approval request, though both resume it", async () => {
    await using store = await storeKind.fresh();
    await using shop = await openShop();
    const input = orders(store, shop, { kind: "blind" });
    expect(await callOrders(input, { crashAt: "after-effect" })).toEqual([]);
    const resume = { ...input, meets: true };
    const both = await Promise.all([callOrders(resume), callOrders(resume)]);
    expect(both.flat().map(({ status }) => status)).toEqual(["pending", "pending"]);
    await using runtime = createRuntime({ store: store.address });
    expect(await runtime.approvals()).toMatchObject([{ kind: "replay", status: "pending" }]);
    expect(shop.requests).toBe(1);
  });

  test.concurrent("both together stay within the limits of their run", async () => {
    await using store = await storeKind.fresh();
    await using shop = await openShop(30);
    const input = (skus: readonly string[]) =>
      orders(store, shop, { limits: { maxToolCalls: 5, maxParallelTools: 2 }, skus, meets: true });
    const both = await Promise.all([
      callOrders(input(["a", "b", "c", "d"])),
      callOrders(input(["e", "f", "g", "h"])),
    ]);
    const refused = both.flat().filter(({ status }) => status === "error");
    expect(refused.map(({ errorCode }) => errorCode)).toEqual(Array(3).fill("TOOL_LIMIT_EXCEEDED"));
    expect(shop.ledger).toHaveLength(5);
    expect(shop.mostAtOnce).toBeLessThanOrEqual(2);
  });

  test.concurrent("a breaker that one opens is open for the other", async () => {
    await using store = await storeKind.fresh();
    await using shop = await openShop();
    const input = (runId: string) =>
      orders(store, shop, { policies: { circuitBreakerThreshold: 2 }, runId, skus: ["a", "b"] });
    shop.close();
    await callOrders(input("run-1"));
    expect(shop.requests).toBe(2);
    shop.open();
    const refused = await callOrders(input("run-2"));
    expect(refused.map(({ errorCode }) => errorCode)).toEqual(["TOOL_CIRCUIT_OPEN", "TOOL_CIRCUIT_OPEN"]);
    expect(shop.requests).toBe(2);
  });

  test.concurrent("one waits for an equal call in flight in the other, and uses its outcome", async () => {
    await using store = await storeKind.fresh();
    await using shop = await openShop();
    const first = callOrders(orders(store, shop, { kind: "blind", shopUrl: `${shop.url}?hold` }));
    await until(() => shop.requests === 1);
    await using here = await createWaiter(store);
    const second = here.runtime.call(createOrderTool("blind", shop.url), { sku: "a" }, { runId: "run-1" });
    await here.waits();
    shop.answerHeld();
    expect(await second).toMatchObject({ status: "success", replayed: true });
    expect(await first).toMatchObject([{ status: "success", replayed: false }]);
    expect(shop.requests).toBe(1);
  });

  test.concurrent("a business key that both use at once, in two runs, has one effect", async () => {
    await using store = await storeKind.fresh();
    await using shop = await openShop(100);
    const input = (runId: string) =>
      orders(store, shop, { kind: "business", runId, skus: ["a", "b", "c"], meets: true });
    const both = await Promise.all([callOrders(input("run-1")), callOrders(input("run-2"))]);
    expect(both.flat().map(({ status }) => status)).toEqual(Array(6).fill("success"));
    expect(shop.requests).toBe(3);
  });

  // Not concurrent, so that the processes of other tests do not distort the measured time.
  test("a waiting process notices within 5 s that the owner was killed", async () => {
    await using store = await storeKind.fresh();
    await using shop = await openShop();
    // It dies when the shop answers, and the shop answers only after another process waits for its call.
    const input = orders(store, shop, { shopUrl: `${shop.url}?hold` });
    const killed = callOrders(input, { crashAt: "in-effect", occurrence: 2 });
    await until(() => shop.requests === 1);
    await using here = await createWaiter(store);
    const waiting = here.runtime.call(createOrderTool("keyed", shop.url), { sku: "a" }, { runId: "run-1" });
    await here.waits();
    shop.answerHeld();
    expect(await killed).toEqual([]);
    const killedAt = performance.now();
    expect(await waiting).toMatchObject({ status: "success", replayed: false });
    expect(performance.now() - killedAt).toBeLessThan(5_000);
    expect(skusOf(shop)).toEqual(["a"]);
  });
});
