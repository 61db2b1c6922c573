/**
 * A workflow that places one order. A large order waits for approval. The customer's order number is the business key: the
 * shop gets one order for each number, across runs and retries. Run by durable-order.ts.
 */
import { createSmithers, defineTool } from "toolwright";
import { z } from "zod";

const order = z.object({ orderNumber: z.string(), item: z.string(), quantity: z.int().min(1) });

const placeOrder = defineTool({
  name: "place_order",
  description: "Place an order at the shop",
  schema: order,
  outputSchema: z.object({ number: z.int() }),
  sideEffect: true,
  idempotent: false,
  idempotencyKey: ({ orderNumber }) => orderNumber,
  needsApproval: ({ quantity }) => quantity > 10,
  approvalPrompt: ({ item, quantity }) => `Order ${quantity} of ${item}?`,
  async execute({ item, quantity }, ctx) {
    const response = await fetch(String(process.env["SHOP_URL"]), {
      method: "POST",
      headers: { "idempotency-key": ctx.idempotencyKey },
      body: JSON.stringify({ item, quantity }),
    });
    return (await response.json()) as { number: number };
  },
});

const { Workflow, Task, smithers, outputs } = createSmithers({
  input: order,
  output: z.object({ number: z.int() }),
});

export default smithers((ctx) => (
  <Workflow name="order">
    <Task id="place" output={outputs.output} retries={0}>
      {() => placeOrder.execute(ctx.input)}
    </Task>
  </Workflow>
));
