/** Run with: npm test */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createRuntime, runWorkflow } from "toolwright";
import workflow from "./workflow.tsx";

test("orders once, even if the run is started again", async (t) => {
  const rootDir = await mkdtemp(join(tmpdir(), "order-"));
  t.after(() => rm(rootDir, { recursive: true }));
  const runtime = createRuntime({ store: ":memory:" });
  t.after(() => runtime.close());
  const input = { item: "apple", quantity: 2 };
  const first = await runWorkflow(workflow, { runtime, runId: "test", rootDir, input });
  assert.deepEqual(first.output, { receipt: "2 of apple", euros: 4 });
  await runWorkflow(workflow, { runtime, runId: "test", resume: true });
  const orders = await readFile(join(rootDir, "orders.txt"), "utf8");
  assert.equal(orders.trim().split("\n").length, 1);
});

test("waits for approval before a large order", async (t) => {
  const runtime = createRuntime({ store: ":memory:" });
  t.after(() => runtime.close());
  const result = await runWorkflow(workflow, { runtime, input: { item: "apple", quantity: 50 } });
  assert.equal(result.status, "waiting-approval");
});
