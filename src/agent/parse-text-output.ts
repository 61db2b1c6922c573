/**
 * Reads an output that the model wrote as text instead of calling the output tool. A replay builds the problems again, and
 * their texts are hashed: do not change them.
 */
import { z } from "zod";
import { fromObjectInput } from "../definition/object-schema.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { messageOf } from "../invoke/error-record.ts";
import { decode, encode } from "../util/encode.ts";
import { parseInput } from "../tool/parse-input.ts";

export async function parseTextOutput(
  { schema, inputJsonSchema }: ToolSpec,
  text: string,
): Promise<{ value: unknown } | { problem: string }> {
  const parsed = parseInput(withoutFence(text.trim()));
  if (parsed === undefined) {
    return { problem: "The final answer has to fit the schema of the output; this is no JSON." };
  }
  try {
    const checked = await schema.safeParseAsync(fromObjectInput(inputJsonSchema, parsed.value));
    // Encoded and decoded, so that a replay returns the same value.
    if (checked.success) return { value: decode(encode(checked.data)) };
    return misfit(z.prettifyError(checked.error));
  } catch (error) {
    // The response is stored: an exception would end the run again with every resume.
    return misfit(messageOf(error));
  }
}

function misfit(how: string): { problem: string } {
  return { problem: `The final answer does not fit the schema of the output: ${how}.` };
}

function withoutFence(text: string): string {
  return /^```(?:json)?\s*([\s\S]*?)\s*```$/.exec(text)?.[1] ?? text;
}
