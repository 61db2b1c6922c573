/** Finds where an answer continues for a client that has shown it up to its approval requests: what follows is new to it. */
import type { UIMessage, UIMessageChunk } from "ai";
import type { Host } from "../../../invoke/host.ts";
import { readParts } from "../../../store/tables/streams.ts";
import type { NumberedPart } from "../../../stream/stream-part.ts";

/** The index of the first part. */
export async function afterRequests(host: Host, chatId: string, shown: UIMessage): Promise<number> {
  const requests = requestsIn(shown);
  const texts = await host.store.read(() => readParts(chatId, 0));
  const indexes = texts
    .flatMap((json) => JSON.parse(json) as NumberedPart[])
    .filter((part) => part.type === "tool-approval-request" && requests.has(part.approvalId))
    .map(({ index }) => index);
  return Math.max(-1, ...indexes) + 1;
}

/** The same for an answer that has ended. */
export function chunksAfterRequests(
  chunks: readonly UIMessageChunk[],
  shown: UIMessage | undefined,
): readonly UIMessageChunk[] {
  const requests = requestsIn(shown);
  const last = chunks.findLastIndex(
    (chunk) => chunk.type === "tool-approval-request" && requests.has(chunk.approvalId),
  );
  return chunks.slice(last + 1);
}

/**
 * The client has decided about calls after the turn was stopped. Without a result for them it would send its decisions
 * repeatedly.
 */
export function lateDecisions(
  chunks: readonly UIMessageChunk[],
  shown: UIMessage | undefined,
): readonly UIMessageChunk[] {
  const ended = new Set(
    chunks.flatMap((chunk) => (RESULTS.has(chunk.type) ? [(chunk as Result).toolCallId] : [])),
  );
  const parts = (shown?.parts ?? []) as readonly {
    readonly state?: unknown;
    readonly toolCallId?: unknown;
  }[];
  return parts.flatMap(({ state, toolCallId }): UIMessageChunk[] => {
    if (state !== "approval-responded" || typeof toolCallId !== "string" || ended.has(toolCallId)) return [];
    return [
      { type: "tool-output-error", toolCallId, errorText: "The answer was stopped before the decision." },
    ];
  });
}

type Result = Extract<UIMessageChunk, { readonly toolCallId: string }>;
const RESULTS: ReadonlySet<string> = new Set([
  "tool-output-available",
  "tool-output-error",
  "tool-output-denied",
]);

function requestsIn(shown: UIMessage | undefined): ReadonlySet<unknown> {
  const parts = (shown?.parts ?? []) as readonly { readonly approval?: { readonly id?: unknown } }[];
  return new Set(parts.flatMap(({ approval }) => (approval === undefined ? [] : [approval.id])));
}
