/** A Toolwright tool in the loop of the OpenAI Agents SDK: it waits for approval, and the approved call runs once. */
import assert from "node:assert/strict";
import { Agent, Runner } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { createRuntime, defineTool } from "toolwright";
import { toOpenAIAgentTools } from "toolwright/openai-agents";
import { z } from "zod";

const placed: string[] = [];
const placeOrder = defineTool({
  name: "shop.place_order",
  description: "Place an order at the shop",
  schema: z.object({ sku: z.string(), quantity: z.int().min(1).default(1) }),
  sideEffect: true,
  idempotent: false,
  needsApproval: true,
  execute: ({ sku, quantity }, ctx) => {
    placed.push(`${quantity} ${sku}, key ${ctx.idempotencyKey?.slice(0, 8)}`);
    return { orderId: `order-${placed.length}` };
  },
});

// Stands in for a model. Real programs omit `model`.
const model = new ScriptedModel([
  [functionCall("shop_place_order", { sku: "apple", quantity: 3 }, { callId: "call_1" })],
  [assistantMessage("Three apples are on their way.")],
]);
const agent = new Agent({ name: "Shop", model, tools: toOpenAIAgentTools([placeOrder]) });
const runner = new Runner({ tracingDisabled: true });

await using runtime = createRuntime({ store: ":memory:" });
const paused = await runtime.run({ runId: "monday" }, () => runner.run(agent, "Three apples, please."));
console.log(`The loop has paused for ${paused.interruptions.map(({ name }) => name).join(", ")}.`);
assert.deepEqual(placed, []);

const [request] = await runtime.approvals({ status: "pending", runId: "monday" });
assert(request !== undefined);
console.log(`The approver sees: ${request.prompt} ${JSON.stringify(request.args)}`);
await runtime.resolveToolApproval(request.id, { approved: true, decidedBy: "Ada" });

const done = await runtime.run({ runId: "monday" }, () => runner.run(agent, paused.state));
console.log(`Placed: ${placed.join("; ")}`);
console.log(done.finalOutput);
assert.equal(placed.length, 1);

// The same call again, as after a restart: its logged result is returned.
const again = new ScriptedModel([
  [functionCall("shop_place_order", { sku: "apple", quantity: 3 }, { callId: "call_2" })],
  [assistantMessage("Three apples are on their way.")],
]);
await runtime.run({ runId: "monday" }, () =>
  runner.run(agent.clone({ model: again }), "Three apples, please."),
);
console.log(`After a second run under the same id, orders: ${placed.length}`);
assert.equal(placed.length, 1);
