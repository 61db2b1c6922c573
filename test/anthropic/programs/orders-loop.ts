/**
 * The loop that is killed: it orders at a shop, driven by a model on another server. One argument in JSON; prints
 * JSON.
 */
import Anthropic from "@anthropic-ai/sdk";
import { runAgentLoop } from "../../../src/index.ts";
import { createCrashableRuntime } from "../../../src/testing/index.ts";
import { taskTools } from "../../../src/builtin/index.ts";
import { createOrderTool } from "../../crash/programs/shop-tools.ts";

export interface OrdersLoopInput {
  readonly store: string;
  readonly shopUrl: string;
  readonly baseURL: string;
  readonly stream: boolean;
}

const input = JSON.parse(process.argv[2] ?? "") as OrdersLoopInput;
await using runtime = createCrashableRuntime({ store: input.store });
const { status, reason, messages } = await runAgentLoop({
  client: new Anthropic({ baseURL: input.baseURL, apiKey: "any", maxRetries: 0 }),
  model: "claude-test",
  messages: [{ role: "user", content: "Order everything." }],
  tools: [
    createOrderTool("keyed", input.shopUrl),
    createOrderTool("business", input.shopUrl),
    createOrderTool("reconciled", input.shopUrl),
    taskTools.complete_task,
  ],
  runtime,
  runId: "run-1",
  stream: input.stream,
});
console.log(JSON.stringify({ status, reason, messages: messages.length }));
