/** A user's own program with its own registry that has the tool for the inventory. */
import { Command } from "commander";
import { z } from "zod";
import { createRegistry, createRuntime, defineTool, registerToolsAsCLI } from "../../../src/index.ts";
import { capabilitiesTools } from "../../../src/builtin/index.ts";

const order = defineTool({
  name: "shop_order",
  group: "shop",
  description: "Order something.",
  schema: z.object({ sku: z.string() }),
  execute: (args) => args,
});
const program = new Command("capable");
const registry = createRegistry([order, ...Object.values(capabilitiesTools)]);
const runtime = process.env["OWN_RUNTIME"] === undefined ? undefined : createRuntime({ store: ":memory:" });
registerToolsAsCLI(program, { registry, runtime });
await program.parseAsync();
