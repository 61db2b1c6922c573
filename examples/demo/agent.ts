/**
 * The program that is killed: an AI SDK agent that places orders. There is nothing in it about crashes but the crash
 * kit's runtime and one line in the tool; run again under the same run id, it goes on where it was.
 */
import { ToolLoopAgent } from "ai";
import { defineTool } from "toolwright";
import { createCrashableRuntime, createScriptedModel, reachCrashPoint } from "toolwright/testing";
import { z } from "zod";

const [store = "", shop = ""] = process.argv.slice(2);

const placeOrder = defineTool({
  name: "place_order",
  description: "Place an order at the shop",
  schema: z.object({ item: z.string() }),
  outputSchema: z.object({ number: z.int(), item: z.string() }),
  sideEffect: true,
  idempotent: false,
  async execute({ item }, ctx) {
    const response = await fetch(shop, {
      method: "POST",
      headers: { "idempotency-key": String(ctx.idempotencyKey) },
      body: JSON.stringify({ item }),
    });
    reachCrashPoint("in-effect");
    return (await response.json()) as { number: number; item: string };
  },
});

const agent = new ToolLoopAgent({
  // A real model would do: it is scripted so that the demo needs no network and no key.
  model: createScriptedModel([
    [{ toolName: "place_order", input: { item: "apples" } }],
    [
      { toolName: "place_order", input: { item: "bread" } },
      { toolName: "place_order", input: { item: "milk" } },
    ],
    "All three are ordered.",
  ]),
  tools: { place_order: placeOrder },
});

await using runtime = createCrashableRuntime({ store });
const { text } = await runtime.run({ runId: "groceries" }, () =>
  agent.generate({ prompt: "Order apples, bread and milk." }),
);
console.log(text);
