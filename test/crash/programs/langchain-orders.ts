/**
 * A loop on LangChain that places orders, two in each turn. The model gives its calls new ids in every process, as
 * models do. Arguments: store, shop.
 */
import { randomUUID } from "node:crypto";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { toLangChainTool } from "../../../src/adapters/langchain/index.ts";
import { createCrashableRuntime } from "../../../src/testing/index.ts";
import { createOrderTool } from "./shop-tools.ts";

const [store = "", shopUrl = ""] = process.argv.slice(2);
const order = toLangChainTool(createOrderTool("keyed", shopUrl));
const turn = (...skus: string[]) =>
  skus.map((sku) => ({ name: order.name, args: { sku }, id: randomUUID() }));
// The same article twice: the second is a second order, before the crash and after it.
const model = fakeModel()
  .respondWithTools(turn("a", "b"))
  .respondWithTools(turn("c", "a"))
  .respond(new AIMessage("All is ordered."))
  .bindTools([order]);

await using runtime = createCrashableRuntime({ store });
const text = await runtime.run({ runId: "run-1" }, async () => {
  const messages: BaseMessage[] = [new HumanMessage("Order.")];
  for (;;) {
    const said = await model.invoke(messages);
    const calls = said.tool_calls ?? [];
    if (calls.length === 0) return said.text;
    const answers = calls.map((call) => order.invoke({ ...call, type: "tool_call" as const }));
    messages.push(said, ...((await Promise.all(answers)) as BaseMessage[]));
  }
});
console.log(text);
