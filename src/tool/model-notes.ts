/** Notes that the model reads with a result, for example that it is from an earlier attempt. */
import { toShownValue } from "../util/shown-value.ts";
import { contentPartsOf } from "./content-parts.ts";
import type { JsonOutput, ModelContent, ModelOutput } from "./tool.ts";

const KEPT = 1_000;

export interface ModelNotes {
  keep(toolCallId: string, note: string | undefined): void;
  toModelOutput(options: Result): ModelOutput | Promise<ModelOutput>;
}

interface Result {
  readonly toolCallId: string;
  readonly input: unknown;
  readonly output: unknown;
}

/** @param own the tool's own `toModelOutput` */
export function createModelNotes(own: unknown): ModelNotes {
  const notes = new Map<string, string>();
  return {
    keep(toolCallId, note) {
      // A fork makes calls under the ids of its parent, with other notes or none.
      notes.delete(toolCallId);
      if (note === undefined) return;
      notes.set(toolCallId, note);
      const [oldest] = notes.keys();
      if (notes.size > KEPT && oldest !== undefined) notes.delete(oldest);
    },
    toModelOutput(options) {
      const note = notes.get(options.toolCallId);
      if (typeof own === "function") return withNote(own as Shows, options, note);
      return toModelOutput(options.output, note);
    },
  };
}

type Shows = (options: Result) => unknown;

async function withNote(show: Shows, options: Result, note: string | undefined): Promise<ModelOutput> {
  const shown = (await show(options)) as ModelOutput;
  if (note === undefined) return shown;
  if (shown.type === "text") return { ...shown, value: `[${note}]\n${shown.value}` };
  if (shown.type === "json") return { ...shown, value: { note, result: shown.value } };
  if (shown.type !== "content") return shown;
  return { ...shown, value: [{ type: "text", text: `[${note}]` }, ...shown.value] };
}

/** A result in the AI SDK's format, with its note. Images stay images. */
export function toModelOutput(output: unknown, note: string | undefined): ModelOutput {
  const parts = contentPartsOf(output);
  if (parts === undefined) return toJsonOutput(output, note);
  const value = parts.map((part): ModelContent =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : {
          type: "file",
          mediaType: part.mediaType,
          data:
            part.data === undefined
              ? { type: "url", url: new URL(part.url) }
              : { type: "data", data: part.data },
          ...(part.filename === undefined ? {} : { filename: part.filename }),
        },
  );
  return {
    type: "content",
    value: note === undefined ? value : [{ type: "text", text: `[${note}]` }, ...value],
  };
}

/** The same for loops that take only text or JSON. */
export function toJsonOutput(output: unknown, note: string | undefined): JsonOutput {
  if (typeof output === "string") {
    return { type: "text", value: note === undefined ? output : `[${note}]\n${output}` };
  }
  const value = toShownValue(output) ?? null;
  return { type: "json", value: note === undefined ? value : { note, result: value } };
}
