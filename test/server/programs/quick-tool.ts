/** A tool without effects. */
import { z } from "zod";
import { defineTool } from "../../../src/index.ts";

export const quick = defineTool({
  name: "quick",
  description: "Returns its argument.",
  schema: z.object({ n: z.number(), text: z.string().optional() }),
  execute: ({ n }) => ({ n }),
});
