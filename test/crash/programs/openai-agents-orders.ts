/**
 * An agent of the OpenAI Agents SDK that places orders, two in each turn. The model gives its calls new ids in every
 * process, as models do. Arguments: store, shop.
 */
import { randomUUID } from "node:crypto";
import { Agent, Runner } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { toOpenAIAgentTool } from "../../../src/adapters/openai-agents/index.ts";
import { createCrashableRuntime } from "../../../src/testing/index.ts";
import { createOrderTool } from "./shop-tools.ts";

const [store = "", shopUrl = ""] = process.argv.slice(2);
const order = toOpenAIAgentTool(createOrderTool("keyed", shopUrl));
const turn = (...skus: string[]) =>
  skus.map((sku) => functionCall(order.name, { sku }, { callId: randomUUID() }));
// The same article twice: the second is a second order, before the crash and after it.
const model = new ScriptedModel([turn("a", "b"), turn("c", "a"), [assistantMessage("All is ordered.")]]);

await using runtime = createCrashableRuntime({ store });
const agent = new Agent({ name: "Shop", model, tools: [order] });
const runner = new Runner({ tracingDisabled: true });
const { finalOutput } = await runtime.run({ runId: "run-1" }, () => runner.run(agent, "Order."));
console.log(finalOutput);
