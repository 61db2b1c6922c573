/** A workflow: a price, then an order. A finished task never runs again. */
import { createWorkflows } from "toolwright";
import { z } from "zod";
import { placeOrder } from "./place-order.ts";

const { Workflow, Task, workflow, outputs } = createWorkflows({
  input: z.object({ item: z.string(), quantity: z.int().min(1) }),
  price: z.object({ euros: z.number() }),
  output: z.object({ receipt: z.string(), euros: z.number() }),
});

export default workflow((ctx) => (
  <Workflow name="order">
    <Task id="price" output={outputs.price}>
      {() => ({ euros: ctx.input.quantity * 2 })}
    </Task>
    <Task id="order" output={outputs.output} deps={{ price: outputs.price }}>
      {async ({ price }) => {
        const { receipt } = await placeOrder.execute(ctx.input);
        return { receipt, euros: price.euros };
      }}
    </Task>
  </Workflow>
));
