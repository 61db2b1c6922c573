/** Run with: npm test */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createRuntime } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { runAgent } from "./agent.ts";
import { createModel } from "./model.ts";

test("orders once, and waits for approval of the large order", async (t) => {
  const rootDir = await mkdtemp(join(tmpdir(), "agent-"));
  t.after(() => rm(rootDir, { recursive: true }));
  const orders = async () => (await readFile(join(rootDir, "orders.txt"), "utf8")).trim().split("\n");
  const runtime = createRuntime({ store: ":memory:", rootDir });
  t.after(() => runtime.close());
  const run = () =>
    runAgent(runtime, { model: recordModel(createModel()), runId: "test", prompt: "Two apples, 50 pears." });

  const first = await run();
  assert.deepEqual(
    first.pending.map(({ prompt }) => prompt),
    ["Order 50 of pear?"],
  );
  assert.equal((await orders()).length, 1);

  for (const { id } of first.pending) await runtime.resolveToolApproval(id, { approved: true });
  const second = await run();
  assert.match(second.text, /50 of pear/);
  assert.equal((await orders()).length, 2);
});
