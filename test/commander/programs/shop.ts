/** A user's own program, with the default registry and without its own runtime. */
import { Command } from "commander";
import { z } from "zod";
import { defineTool, registerTool, registerToolsAsCLI } from "../../../src/index.ts";

registerTool(
  defineTool({
    name: "shop_order",
    group: "shop",
    description: "Order something.",
    schema: z.object({ sku: z.string(), quantity: z.int().default(1) }),
    sideEffect: true,
    idempotent: false,
    needsApproval: ({ quantity }) => quantity > 9,
    execute: ({ sku, quantity }, ctx) => ({ sku, quantity, key: ctx.idempotencyKey?.length }),
  }),
);
registerTool(
  defineTool({
    name: "hang",
    schema: z.object({}),
    sideEffect: true,
    idempotent: false,
    execute: (_args, ctx) => {
      process.stdout.write(`hanging with ${ctx.idempotencyKey}\n`);
      return new Promise((resolve) => setTimeout(resolve, 60_000));
    },
  }),
);

const program = new Command("shop");
registerToolsAsCLI(program);
await program.parseAsync();
