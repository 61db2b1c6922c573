/**
 * An agent on the Anthropic SDK that needs approval before it spends money. Offline: the model is a script on a local server that speaks the
 * Messages API. The program ends while it waits. With the same run id it resumes,
 * and no request or effect is repeated.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { createRuntime, defineTool, runAgentLoop } from "toolwright";
import { createScriptedAnthropic } from "toolwright/testing";
import { taskTools } from "toolwright/tools";
import { z } from "zod";

const placed: string[] = [];

const placeOrder = defineTool({
  name: "shop.place_order",
  description: "Place an order at the shop",
  schema: z.object({ sku: z.string(), quantity: z.int().min(1).default(1) }),
  sideEffect: true,
  idempotent: false,
  needsApproval: ({ quantity }) => quantity > 5,
  execute: ({ sku, quantity }, ctx) => {
    placed.push(`${quantity} ${sku} (${ctx.idempotencyKey?.length} characters of key)`);
    return { orderId: placed.length, sku, quantity };
  },
});

await using server = await createScriptedAnthropic([
  {
    text: "I order both.",
    toolCalls: [
      { toolName: "shop_place_order", input: { sku: "apple" } },
      { toolName: "shop_place_order", input: { sku: "pear", quantity: 20 } },
    ],
  },
  [{ toolName: "complete_task", input: { summary: "one apple and twenty pears are on their way" } }],
]);
const client = new Anthropic({ baseURL: server.baseURL, apiKey: "offline" });
const folder = mkdtempSync(join(tmpdir(), "toolwright-anthropic-"));

/** Each call acts as a separate program. */
async function work(decide: boolean) {
  await using runtime = createRuntime({ store: join(folder, "orders.db") });
  if (decide) {
    for (const { id } of await runtime.approvals({ status: "pending" })) {
      await runtime.resolveToolApproval(id, { approved: true, decidedBy: "me" });
    }
  }
  return runAgentLoop({
    client,
    model: "claude-sonnet-5-5",
    system: "You buy fruit.",
    messages: [{ role: "user", content: "One apple and twenty pears, please." }],
    tools: { ...taskTools, placeOrder },
    runtime,
    runId: "fruit",
    stream: true,
  });
}

const waiting = await work(false);
console.log(waiting.status, "-", waiting.reason); // waiting - Waits for approval: shop.place_order.
assert.equal(waiting.status, "waiting");
assert.equal(placed.length, 1);

const done = await work(true);
console.log(done.status, "-", done.reason); // complete - Task completed: one apple and twenty pears …
assert.equal(done.terminal?.name, "complete_task");
assert.equal(placed.length, 2);

assert.deepEqual(await work(false), done);
assert.equal(server.requests.length, 2);
rmSync(folder, { recursive: true });
