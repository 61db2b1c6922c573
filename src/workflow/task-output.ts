/** Finds the output in an agent's answer and validates it against the schema of the task. */
import { z } from "zod";
import { toInputJsonSchema } from "../definition/json-schema.ts";
import { ToolwrightError } from "../errors.ts";
import type { OutputToken } from "./output-token.ts";

/** The part of the prompt that describes the expected output. */
export function describeOutput(nodeId: string, output: OutputToken | undefined): string {
  if (output === undefined) return "";
  const schema = JSON.stringify(toInputJsonSchema(output.schema, nodeId));
  return `\n\nEnd with one JSON value, and nothing after it, that fits this JSON Schema:\n${schema}`;
}

/** @throws WORKFLOW_OUTPUT_INVALID with the issues, for the model to correct */
export async function validateOutput(
  nodeId: string,
  output: OutputToken | undefined,
  value: unknown,
): Promise<unknown> {
  if (output === undefined) return value;
  const parsed = await output.schema.safeParseAsync(value);
  if (parsed.success) return parsed.data;
  throw invalidOutput(nodeId, output, z.prettifyError(parsed.error));
}

/** The structured output if the agent has one, else the JSON in its text, else the text. */
export function outputOfAgent(nodeId: string, output: OutputToken | undefined, result: unknown): unknown {
  if (output === undefined) return textOf(result);
  const structured = structuredOf(result);
  // Without a structured output, the AI SDK's `output` is the text.
  if (structured !== undefined && typeof structured !== "string") return structured;
  const text = textOf(result);
  if (isText(output.schema)) return text;
  const json = lastJson(text);
  if (json !== undefined) return json;
  throw invalidOutput(nodeId, output, "the answer contains no JSON value.");
}

/** A schema for strings takes the text unparsed, even if it looks like JSON. */
function isText(schema: z.ZodType): boolean {
  return ["string", "template_literal", "enum", "literal"].includes(schema._zod.def.type);
}

function structuredOf(result: unknown): unknown {
  if (typeof result !== "object" || result === null) return undefined;
  try {
    return (result as { output?: unknown }).output ?? (result as { object?: unknown }).object;
  } catch {
    // The AI SDK's getter throws if no structured output was requested or it is invalid; the text is used instead.
    return undefined;
  }
}

function textOf(result: unknown): string {
  if (typeof result === "string") return result;
  const text =
    typeof result === "object" && result !== null ? (result as { text?: unknown }).text : undefined;
  return typeof text === "string" ? text : "";
}

/** The last JSON value in a text: the whole text, a fenced block, or its end. */
function lastJson(text: string): unknown {
  const fences = [...text.matchAll(/```(?:json)?\s*\n?([\s\S]*?)```/g)].map(([, inside = ""]) => inside);
  for (const candidate of [text, ...fences.toReversed(), ...tails(text)]) {
    try {
      return JSON.parse(candidate.trim()) as unknown;
    } catch {
      // Try the next candidate.
    }
  }
  return undefined;
}

const MAX_TAILS = 5_000;

/** The substrings up to the last closing brace or bracket, shortest first: the first that parses is the last value. */
function tails(text: string): string[] {
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  if (end < 0) return [];
  const starts = [...text.slice(0, end).matchAll(/[{[]/g)].map((match) => match.index);
  return starts
    .slice(-MAX_TAILS)
    .toReversed()
    .map((start) => text.slice(start, end + 1));
}

export function invalidOutput(
  nodeId: string,
  output: OutputToken,
  problem: string,
  cause?: unknown,
): ToolwrightError {
  return new ToolwrightError(
    "WORKFLOW_OUTPUT_INVALID",
    `The output of task "${nodeId}" does not match the schema of "${output.key}": ${problem}`,
    { details: { task: nodeId, output: output.key }, cause },
  );
}
