/** From what an agent says to what its task promises: parsed, validated, and, where it does not fit, said why. */
import { z } from "zod";
import { toInputJsonSchema } from "../definition/json-schema.ts";
import { ToolwrightError } from "../errors.ts";
import type { OutputToken } from "./output-token.ts";

/** What the prompt says about the form of the answer. */
export function describeOutput(nodeId: string, output: OutputToken | undefined): string {
  if (output === undefined) return "";
  const schema = JSON.stringify(toInputJsonSchema(output.schema, nodeId));
  return `\n\nEnd with one JSON value, and nothing after it, that fits this JSON Schema:\n${schema}`;
}

/** @throws WORKFLOW_OUTPUT_INVALID with what does not fit, in words that a model can act on */
export async function validateOutput(
  nodeId: string,
  output: OutputToken | undefined,
  value: unknown,
): Promise<unknown> {
  if (output === undefined) return value;
  const parsed = await output.schema.safeParseAsync(value);
  if (parsed.success) return parsed.data;
  throw invalid(nodeId, output, z.prettifyError(parsed.error));
}

/** An agent's structured output where it has one, else the JSON in its text, else the text itself. */
export function outputOfAgent(nodeId: string, output: OutputToken | undefined, result: unknown): unknown {
  if (output === undefined) return textOf(result);
  const structured = structuredOf(result);
  // Without a structured output of its own, the AI SDK gives the text here.
  if (structured !== undefined && typeof structured !== "string") return structured;
  const text = textOf(result);
  if (isText(output.schema)) return text;
  const json = lastJson(text);
  if (json !== undefined) return json;
  throw invalid(nodeId, output, "the answer holds no JSON value.");
}

/** A schema of texts takes the text as it is, also where it looks like JSON. */
function isText(schema: z.ZodType): boolean {
  return ["string", "template_literal", "enum", "literal"].includes(schema._zod.def.type);
}

function structuredOf(result: unknown): unknown {
  if (typeof result !== "object" || result === null) return undefined;
  try {
    return (result as { output?: unknown }).output ?? (result as { object?: unknown }).object;
  } catch {
    // The AI SDK throws here where none was asked for, or where it does not fit: then the text is looked at.
    return undefined;
  }
}

function textOf(result: unknown): string {
  if (typeof result === "string") return result;
  const text =
    typeof result === "object" && result !== null ? (result as { text?: unknown }).text : undefined;
  return typeof text === "string" ? text : "";
}

/** The last JSON value in a text: alone, in a fence, or at its end. */
function lastJson(text: string): unknown {
  const fences = [...text.matchAll(/```(?:json)?\s*\n?([\s\S]*?)```/g)].map(([, inside = ""]) => inside);
  for (const candidate of [text, ...fences.toReversed(), ...tails(text)]) {
    try {
      return JSON.parse(candidate.trim()) as unknown;
    } catch {
      // Not this one.
    }
  }
  return undefined;
}

const MOST_TAILS = 5_000;

/** What ends with the last closing brace or bracket, the shortest first: the first that parses is the last value. */
function tails(text: string): string[] {
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  if (end < 0) return [];
  const starts = [...text.slice(0, end).matchAll(/[{[]/g)].map((match) => match.index);
  return starts
    .slice(-MOST_TAILS)
    .toReversed()
    .map((start) => text.slice(start, end + 1));
}

export function invalid(
  nodeId: string,
  output: OutputToken,
  problem: string,
  cause?: unknown,
): ToolwrightError {
  return new ToolwrightError(
    "WORKFLOW_OUTPUT_INVALID",
    `The output of task "${nodeId}" does not fit "${output.key}": ${problem}`,
    { details: { task: nodeId, output: output.key }, cause },
  );
}
