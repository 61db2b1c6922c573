/** Run with: npm test */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createRuntime } from "toolwright";
import { placeOrder } from "./place-order.ts";

test("the same call in the same run orders once", async (t) => {
  const rootDir = await mkdtemp(join(tmpdir(), "order-"));
  t.after(() => rm(rootDir, { recursive: true }));
  const order = async () => {
    // A new runtime on the same store is what a restarted process has.
    const runtime = createRuntime({ store: join(rootDir, "toolwright.db"), rootDir });
    try {
      return await runtime.call(placeOrder, { item: "apple", quantity: 2 }, { runId: "monday" });
    } finally {
      await runtime.close();
    }
  };
  assert.partialDeepStrictEqual(await order(), { status: "success", replayed: false });
  assert.partialDeepStrictEqual(await order(), { status: "success", replayed: true });
  const orders = await readFile(join(rootDir, "orders.txt"), "utf8");
  assert.equal(orders.trim().split("\n").length, 1);
});

test("a large order waits for approval", async (t) => {
  const runtime = createRuntime({ store: ":memory:" });
  t.after(() => runtime.close());
  const outcome = await runtime.call(placeOrder, { item: "pear", quantity: 50 }, { runId: "monday" });
  assert.equal(outcome.status, "pending");
});
