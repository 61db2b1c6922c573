/**
 * `response`: how an agent with an `outputSchema` gives its answer. What ends the loop is a call of this very tool, known
 * by the object that it is: nothing that a tool returns can look like it. Touches no budget.
 */
import type { z } from "zod";
import { createToolSpec, type ToolSpec } from "../../definition/tool-spec.ts";
import { RESPONSE } from "./own-names.ts";

export function createResponseSpec(outputSchema: z.ZodType): ToolSpec {
  return createToolSpec(
    {
      name: RESPONSE,
      description: "Gives the final answer and ends the work. Call it once, when everything is done.",
      schema: outputSchema,
      execute: (answer: unknown) => answer,
      isExempt: true,
    },
    {},
  );
}
