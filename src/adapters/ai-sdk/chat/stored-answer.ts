/** The answer of a turn that has ended, in the form in which it may stay in the store: redacted like the log. */
import type { UIMessageChunk } from "ai";
import type { Host } from "../../../invoke/host.ts";
import { storedArguments } from "../../../loop/call-results.ts";
import { readParts } from "../../../store/tables/streams.ts";
import type { NumberedPart } from "../../../stream/stream-part.ts";
import { carriesSpec, specOfCopy } from "../../../tool/copied-tool.ts";
import { ChunkMaker } from "./ui-chunks.ts";

export interface StoredAnswer {
  readonly status: "finished" | "stopped";
  /** For a client that sends the same message again. */
  readonly chunks: readonly UIMessageChunk[];
}

/** @param tools of the agent, by the names that the model knows */
export async function storedChunks(
  host: Host,
  chatId: string,
  turn: number,
  tools: Readonly<Record<string, unknown>>,
): Promise<UIMessageChunk[]> {
  await host.streams.current(chatId)?.flush();
  const texts = await host.store.read(() => readParts(chatId, 0));
  const parts = texts
    .flatMap((json) => JSON.parse(json) as NumberedPart[])
    .filter(({ iteration }) => iteration === turn - 1)
    .sort((one, other) => one.index - other.index);
  const maker = new ChunkMaker(0);
  const chunks = withoutRetracted(parts).flatMap((part) => {
    // The parts of an input are not redacted.
    if (part.type.startsWith("tool-input-")) return [];
    const covered =
      part.type === "tool-call"
        ? { ...part, input: storedInput(tools[part.toolName], part.input, host) }
        : part;
    return maker.toChunk(covered) ?? [];
  });
  return joinDeltas(chunks);
}

function withoutRetracted(parts: readonly NumberedPart[]): NumberedPart[] {
  const last = new Map<string, number>();
  for (const { type, response, index } of parts) if (type === "retracted") last.set(response, index);
  return parts.filter(({ response, index }) => index > (last.get(response) ?? -1));
}

function storedInput(tool: unknown, input: unknown, host: Host): unknown {
  return carriesSpec(tool) ? storedArguments(specOfCopy(tool, true), input, host.store.secret) : input;
}

/** A text that was streamed in many pieces is stored as one. */
function joinDeltas(chunks: readonly UIMessageChunk[]): UIMessageChunk[] {
  const joined: UIMessageChunk[] = [];
  for (const chunk of chunks) {
    const last = joined.at(-1);
    const isDelta = chunk.type === "text-delta" || chunk.type === "reasoning-delta";
    if (isDelta && last?.type === chunk.type && last.id === chunk.id)
      joined[joined.length - 1] = { ...chunk, delta: last.delta + chunk.delta };
    else joined.push(chunk);
  }
  return joined;
}
