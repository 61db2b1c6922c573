/** A tool and a runtime. The second call, after a restart, returns the logged order and places no other. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "toolwright-quickstart-"));
process.chdir(folder);

const placed: string[] = [];
const shop = {
  order: async ({ sku, quantity }: { sku: string; quantity: number; idempotencyKey: string }) => {
    placed.push(sku);
    return { orderId: `order-${placed.length}`, sku, quantity };
  },
};

import { createRuntime, defineTool } from "toolwright";
import { z } from "zod";

const placeOrder = defineTool({
  name: "place_order",
  description: "Place an order at the shop",
  schema: z.object({ sku: z.string(), quantity: z.int().min(1).default(1) }),
  sideEffect: true,
  idempotent: false,
  execute: (args, ctx) => shop.order({ ...args, idempotencyKey: ctx.idempotencyKey }),
});

async function buyApples() {
  const runtime = createRuntime({ store: "orders.db" });
  try {
    return await runtime.call(placeOrder, { sku: "apple" }, { runId: "monday" });
  } finally {
    await runtime.close();
  }
}

console.log(await buyApples()); // { status: "success", output: { orderId: "order-1", … }, replayed: false, … }
console.log(await buyApples()); // a restart later: the same order, replayed: true

assert.deepEqual(placed, ["apple"]);
rmSync(folder, { recursive: true });
