/** Reads the parts of a run as chunks, with the index of each part. */
import { readRunStream } from "../../../runtime/create-runtime.ts";
import type { Runtime, StreamOptions } from "../../../runtime/runtime.ts";
import { digest } from "../../../util/hash.ts";
import { ChunkMaker, type IndexedChunk } from "./ui-chunks.ts";

/** The id of the answer in a turn: the same for every reader, and after every restart. */
export function answerId(runId: string, turn: number): string {
  return `msg-${digest(["answer", runId, turn]).slice(0, 22)}`;
}

/** A turn that continues an answer has the id of that answer. */
export function answerIdOf(runId: string, turn: AnsweringTurn): string {
  return turn.began.answerId ?? answerId(runId, turn.number);
}

export interface AnsweringTurn {
  readonly number: number;
  readonly began: { readonly answerId?: string | undefined };
}

export interface ChunkOptions extends StreamOptions {
  readonly onReady?: (() => void) | undefined;
  /** Leaves out the parts of other turns: they are still stored if that turn has not ended or is recorded. */
  readonly turn?: number | undefined;
}

/** Ends with the run, or when it waits for approval. A client continues the message when the approval is decided. */
export async function* readChunks(
  runtime: Runtime,
  runId: string,
  { onReady, turn: onlyTurn, ...options }: ChunkOptions,
): AsyncGenerator<IndexedChunk & { readonly turn: number | undefined }, void, void> {
  const maker = new ChunkMaker(options.from ?? 0);
  for await (const part of readRunStream(runtime, runId, options, { until: ["waiting-approval"], onReady })) {
    // Agents inside tools count their own turns.
    const isOfTurn = part.type !== "ended" && part.parentKey === undefined;
    const turn = isOfTurn ? (part.iteration ?? 0) + 1 : undefined;
    if (turn !== undefined && turn < (onlyTurn ?? turn)) continue;
    // The next turn began before this reader saw the end of its own.
    if (turn !== undefined && turn > (onlyTurn ?? turn)) break;
    const chunk = maker.toChunk(part);
    if (chunk !== undefined) yield { index: part.index, chunk, turn };
    if (part.type === "ended") return;
  }
  if (options.signal?.aborted !== true) yield { chunk: maker.pause(), turn: undefined };
}
