/**
 * The ledger outside: a shop in the process of the soak, which no fault touches. It knows which process has sent an order,
 * so it can end a process at an exact moment of one of its orders.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Order, openShop } from "../crash/shop.ts";
import { LATE_MS, type Moment } from "./plan.ts";
import type { Tally } from "./tally.ts";

export interface Ledger extends AsyncDisposable {
  /** The address for one process. */
  urlFor(caller: string): string;
  /** Calls `action` at this moment of the n-th order of a caller, once. */
  at(caller: string, nth: number, moment: Moment, action: () => void): void;
  forget(caller: string): void;
  ordersOf(sku: string): readonly Order[];
  readonly skus: ReadonlyMap<string, readonly Order[]>;
}

export async function openLedger(tally: Tally): Promise<Ledger> {
  const triggers = new Map<string, { left: number; readonly moment: Moment; readonly action: () => void }>();
  const skus = new Map<string, Order[]>();
  const isDue = (caller: string, moment: Moment): (() => void) | undefined => {
    const trigger = triggers.get(caller);
    if (trigger === undefined || trigger.moment !== moment || trigger.left > 0) return undefined;
    triggers.delete(caller);
    return trigger.action;
  };
  const shop = await openShop(2, {
    onArrival: async (caller, { sku, kind }) => {
      tally.trace(`${caller} sends ${sku}`);
      const trigger = triggers.get(caller);
      if (trigger !== undefined) trigger.left -= 1;
      const lose = isDue(caller, "lost");
      lose?.();
      if (lose !== undefined) return false;
      const delay = isDue(caller, "late");
      if (delay === undefined) return true;
      delay();
      // Nothing tells an operator that an order may still come, so one of a tool that cannot find out is lost.
      if (kind === "blind") return false;
      await sleep(LATE_MS);
      tally.count("late orders");
      return true;
    },
    onPlaced: (caller, order) => {
      const orders = skus.get(order.sku) ?? [];
      if (!orders.includes(order)) {
        orders.push(order);
        skus.set(order.sku, orders);
        tally.count("orders");
        tally.trace(`${caller} placed ${order.sku} as ${order.id}`);
        if (orders.length > 1)
          tally.fail({
            kind: "twice",
            store: caller.split("/")[0] ?? "",
            about: order.sku,
            message: `${order.sku} was ordered ${orders.length} times`,
          });
      } else tally.count("deduplicated");
      isDue(caller, "placed")?.();
    },
    onAnswered: (caller) => isDue(caller, "answered")?.(),
  });
  return {
    urlFor: (caller) => `${shop.url}${caller}`,
    at: (caller, nth, moment, action) => triggers.set(caller, { left: nth, moment, action }),
    forget: (caller) => triggers.delete(caller),
    ordersOf: (sku) => skus.get(sku) ?? [],
    skus,
    [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose](),
  };
}
