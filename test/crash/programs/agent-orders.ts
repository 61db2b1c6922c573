/**
 * An AI SDK agent that places orders, two in each turn. The model gives its calls new ids in every process, as models
 * do. Arguments: store, shop.
 */
import { randomUUID } from "node:crypto";
import { ToolLoopAgent } from "ai";
import { createCrashableRuntime, createScriptedModel } from "../../../src/testing/index.ts";
import { createOrderTool } from "./shop-tools.ts";

const [store = "", shopUrl = ""] = process.argv.slice(2);
const order = createOrderTool("keyed", shopUrl);
const turn = (...skus: string[]) =>
  skus.map((sku) => ({ toolName: "order", input: { sku }, toolCallId: randomUUID() }));
// The same article twice: the second is a second order, before the crash and after it.
const model = createScriptedModel([turn("a", "b"), turn("c", "a"), "All is ordered."]);

await using runtime = createCrashableRuntime({ store });
const agent = new ToolLoopAgent({ model, tools: { order } });
const { text } = await runtime.run({ runId: "run-1" }, () => agent.generate({ prompt: "Order." }));
console.log(text);
