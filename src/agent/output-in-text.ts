/** An output that a model wrote down in place of calling for it. */
import { z } from "zod";
import { fromObjectInput } from "../definition/object-schema.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { parseInput } from "../util/parse-input.ts";

export async function outputInText(
  { schema, inputJsonSchema }: ToolSpec,
  text: string,
): Promise<{ value: unknown } | { problem: string }> {
  const parsed = parseInput(withoutFence(text.trim()));
  if (parsed === undefined) {
    return { problem: "The final answer has to fit the schema of the output; this is no JSON." };
  }
  const checked = await schema.safeParseAsync(fromObjectInput(inputJsonSchema, parsed.value));
  if (checked.success) return { value: checked.data };
  return {
    problem: `The final answer does not fit the schema of the output: ${z.prettifyError(checked.error)}.`,
  };
}

function withoutFence(text: string): string {
  return /^```(?:json)?\s*([\s\S]*?)\s*```$/.exec(text)?.[1] ?? text;
}
