/** The parts that `runtime.stream` yields: the output of models, and the results of their calls. */
import type { Writer } from "../store/tables/write-calls.ts";

/** Where a part belongs. */
export interface StreamPlace {
  /** Rises strictly, and is the same for every reader. There may be gaps. */
  readonly index: number;
  /** The attempt of the task. */
  readonly attempt: number;
  /** The response that the part belongs to. The same id before and after a crash. */
  readonly response: string;
  readonly nodeId?: string | undefined;
  /** The turn of a chat minus one, or the pass of a loop. */
  readonly iteration?: number | undefined;
  /** The call in which the agent runs that produced the part. */
  readonly parentKey?: string | undefined;
}

/** For every model, the names are the AI SDK's names for parts of model responses. */
export type StreamPartDetails =
  | { readonly type: "response-start" }
  | { readonly type: "text-start" | "text-end"; readonly id: string }
  | { readonly type: "text-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "reasoning-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "tool-input-start"; readonly id: string; readonly toolName: string }
  | { readonly type: "tool-input-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "tool-input-end"; readonly id: string }
  /** The response is committed. `input` is the parsed JSON, or the text if it is not valid. */
  | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      readonly providerExecuted?: boolean | undefined;
    }
  /** The response is committed and complete. */
  | { readonly type: "finish"; readonly finishReason: string; readonly usage?: unknown }
  | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly output: unknown;
      readonly providerExecuted?: boolean | undefined;
    }
  | {
      readonly type: "tool-error" | "tool-denied";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly error: { readonly code: string; readonly message: string };
    }
  | {
      readonly type: "tool-approval-request";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly approvalId: string;
      readonly argsHash: string;
    }
  | { readonly type: "source"; readonly source: unknown }
  | { readonly type: "file"; readonly mediaType: string; readonly data: string }
  /** Takes back all earlier parts of the same response: it was not committed, and is requested again. */
  | { readonly type: "retracted" };

export type StreamPart =
  | (StreamPlace & StreamPartDetails)
  /** The last part. */
  | {
      readonly index: number;
      readonly type: "ended";
      readonly status: "finished" | "failed" | "cancelled";
    };

/** A part of a response, before it has an index. */
export type NumberedPart = StreamPlace & StreamPartDetails;

/** The origin of parts. */
export interface PartOrigin {
  readonly runId: string;
  readonly scopeId: number;
  readonly attempt: number;
  readonly nodeId: string;
  readonly iteration: number;
  readonly parentKey: string;
  readonly writer: Writer;
}

export function locationOf(
  { attempt, nodeId, iteration, parentKey }: Omit<PartOrigin, "runId" | "scopeId" | "writer">,
  index: number,
  response: string,
): StreamPlace {
  return { index, attempt, response, nodeId, iteration, ...(parentKey === "" ? {} : { parentKey }) };
}

export function responseId(location: {
  readonly scopeId: number;
  readonly attempt: number;
  readonly position: number;
}): string {
  return `${location.scopeId}.${location.attempt}.${location.position}`;
}

/** @param response as `responseId` returns it */
export function partsOfId(response: string): { readonly scopeId: number; readonly attempt: number } {
  const [scopeId, attempt] = response.split(".").map(Number);
  return { scopeId: scopeId ?? 0, attempt: attempt ?? 0 };
}

/** About how many characters it has as JSON. */
export function sizeOf(part: NumberedPart): number {
  if ("delta" in part) return 100 + part.delta.length;
  if (part.type === "file") return 100 + part.data.length;
  return part.type === "tool-result" ? 100 + (JSON.stringify(part.output)?.length ?? 0) : 100;
}
