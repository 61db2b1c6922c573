/** Notes that go to the model with a result, for example that it is from an earlier attempt. */
import { encode } from "../util/encode.ts";
import type { JsonValue, ModelOutput } from "./tool.ts";

const KEPT = 1_000;

export interface ModelNotes {
  keep(toolCallId: string, note: string | undefined): void;
  toModelOutput(options: { toolCallId: string; output: unknown }): ModelOutput;
}

export function createModelNotes(): ModelNotes {
  const notes = new Map<string, string>();
  return {
    keep(toolCallId, note) {
      if (note === undefined) return;
      notes.set(toolCallId, note);
      const [oldest] = notes.keys();
      if (notes.size > KEPT && oldest !== undefined) notes.delete(oldest);
    },
    toModelOutput: ({ toolCallId, output }) => toModelOutput(output, notes.get(toolCallId)),
  };
}

/** A result as a model reads it, with what it should know about it. */
export function toModelOutput(output: unknown, note: string | undefined): ModelOutput {
  if (typeof output === "string") {
    return { type: "text", value: note === undefined ? output : `[${note}]\n${output}` };
  }
  const value = toJson(output);
  return { type: "json", value: note === undefined ? value : { note, result: value } };
}

/** The same where a loop takes text only. */
export function toModelText(output: unknown, note: string | undefined): string {
  const shown = toModelOutput(output, note);
  return shown.type === "text" ? shown.value : JSON.stringify(shown.value);
}

/** A tool that did its work may still say that it came to nothing. */
export function saysError(output: unknown): boolean {
  return typeof output === "object" && output !== null && "is_error" in output && output.is_error === true;
}

/** Values beyond JSON are shown in their stored form, which a model can read. */
function toJson(output: unknown): JsonValue {
  return output === undefined ? null : (JSON.parse(encode(output)) as JsonValue);
}
