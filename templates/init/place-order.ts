/** A tool: every call is logged, and large orders wait for approval. */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { defineTool } from "toolwright";
import { z } from "zod";

export const placeOrder = defineTool({
  name: "place_order",
  description: "Writes an order into orders.txt.",
  schema: z.object({ item: z.string(), quantity: z.int().min(1) }),
  outputSchema: z.object({ receipt: z.string() }),
  sideEffect: true,
  idempotent: false,
  needsApproval: ({ quantity }) => quantity > 10,
  approvalPrompt: ({ item, quantity }) => `Order ${quantity} of ${item}?`,
  execute: async ({ item, quantity }, ctx) => {
    // A real shop gets the key with the order, and ignores a second order with the same key.
    await appendFile(join(ctx.rootDir, "orders.txt"), `${quantity} ${item} ${ctx.idempotencyKey}\n`);
    return { receipt: `${quantity} of ${item}` };
  },
});
