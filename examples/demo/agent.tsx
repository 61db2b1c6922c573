/**
 * The program that the demo kills: a workflow in which an AI SDK agent places orders at the shop. The only code about crashes
 * is the crash kit's runtime and one line in the tool. Started again in the same way, the program resumes its run.
 * Run by demo.ts. Arguments: the store, the address of the shop, and a file in which requests to the model are counted.
 */
import { appendFileSync } from "node:fs";
import { ToolLoopAgent } from "ai";
import { createSmithers, defineTool, runWorkflow } from "toolwright";
import { createCrashableRuntime, createScriptedModel, reachCrashPoint } from "toolwright/testing";
import { z } from "zod";

const [store = "", shop = "", requestsFile = ""] = process.argv.slice(2);

const placeOrder = defineTool({
  name: "place_order",
  description: "Place an order at the shop",
  schema: z.object({ item: z.string(), quantity: z.int().min(1) }),
  outputSchema: z.object({ number: z.int() }),
  sideEffect: true,
  idempotent: false,
  needsApproval: ({ quantity }) => quantity > 10,
  approvalPrompt: ({ item, quantity }) => `Order ${quantity} of ${item}?`,
  async execute(order, ctx) {
    const response = await fetch(shop, {
      method: "POST",
      headers: { "idempotency-key": ctx.idempotencyKey },
      body: JSON.stringify(order),
    });
    reachCrashPoint("in-effect");
    return (await response.json()) as { number: number };
  },
});

const order = (item: string, quantity: number) => ({
  toolName: "place_order",
  input: { item, quantity },
});

// The model is scripted, so that the demo needs no network and no key.
const ANSWERS = [
  [order("apples", 3)],
  [order("bread", 1), order("milk", 2)],
  [order("lemonade", 40)],
  'All four are ordered.\n{"orders": 4}',
];
const model = createScriptedModel(
  [
    ({ turn }) => {
      appendFileSync(requestsFile, `${turn + 1}\n`);
      return ANSWERS[turn] ?? new Error("There is nothing left to say.");
    },
  ],
  { atEnd: "repeat-last" },
);
const buyer = new ToolLoopAgent({ model, tools: { place_order: placeOrder } });

const { Workflow, Task, smithers, outputs } = createSmithers({
  list: z.object({ text: z.string() }),
  bought: z.object({ orders: z.int() }),
  output: z.object({ summary: z.string() }),
});

const groceries = smithers(() => (
  <Workflow name="groceries">
    <Task id="list" output={outputs.list}>
      {{ text: "3 apples, 1 bread, 2 milk, and 40 lemonades for the party" }}
    </Task>
    <Task id="buy" output={outputs.bought} agent={buyer} deps={{ list: outputs.list }}>
      {({ list }) => `Order what is on the list: ${list.text}.`}
    </Task>
    <Task id="report" output={outputs.output} deps={{ buy: outputs.bought }}>
      {({ buy }) => ({ summary: `${buy.orders} orders placed.` })}
    </Task>
  </Workflow>
));

await using runtime = createCrashableRuntime({ store });
const { status, output } = await runWorkflow(groceries, { runtime, runId: "party", resume: "auto" });
console.log(JSON.stringify({ status, output }));
