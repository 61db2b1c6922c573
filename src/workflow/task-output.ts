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
  const json = lastJson(text);
  if (json !== undefined) return json;
  if (output.schema.safeParse(text).success) return text;
  throw invalid(nodeId, output, "the answer holds no JSON value.");
}

function structuredOf(result: unknown): unknown {
  if (typeof result !== "object" || result === null) return undefined;
  try {
    return (result as { output?: unknown }).output ?? (result as { object?: unknown }).object;
  } catch {
    // The AI SDK throws here where no structured output was asked for.
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

/** From each opening brace or bracket to the end of the last closing one, the longest first. */
function tails(text: string): string[] {
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  if (end < 0) return [];
  const starts = [...text.matchAll(/[{[]/g)].map((match) => match.index).slice(0, 50);
  return starts.filter((start) => start < end).map((start) => text.slice(start, end + 1));
}

function invalid(nodeId: string, output: OutputToken, problem: string): ToolwrightError {
  return new ToolwrightError(
    "WORKFLOW_OUTPUT_INVALID",
    `The output of task "${nodeId}" does not fit "${output.key}": ${problem}`,
    { details: { task: nodeId, output: output.key } },
  );
}
