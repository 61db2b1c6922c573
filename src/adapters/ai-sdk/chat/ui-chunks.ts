/** Parts of a run as chunks of the AI SDK's message stream. One part becomes at most one chunk. */
import type { UIMessageChunk } from "ai";
import type { NumberedPart, StreamPart } from "../../../stream/stream-part.ts";

export interface IndexedChunk {
  /** `undefined` for a chunk that is not a part, such as the start. */
  readonly index?: number | undefined;
  readonly chunk: UIMessageChunk;
}

/** The state of one connection: a retraction takes back only parts that this connection has sent. */
export class ChunkMaker {
  /** Whether the client may have parts of an earlier connection. */
  readonly #isContinued: boolean;
  readonly #begun = new Set<string>();
  readonly #reset = new Set<string>();
  readonly #calls = new Set<string>();
  /** Calls whose approval was requested. */
  readonly #requested = new Set<string>();
  #hasSent = false;
  /** Whether the last chunk took back a step, which the next response uses again. */
  #isReset = false;
  #finishReason: string | undefined;

  constructor(from: number) {
    this.#isContinued = from > 0;
  }

  toChunk(part: StreamPart): UIMessageChunk | undefined {
    // Agents inside tools have no place in the message.
    if (part.type !== "ended" && part.parentKey !== undefined) return undefined;
    const chunk = part.type === "ended" ? this.#end(part.status) : this.#ofPart(part);
    this.#hasSent ||= chunk !== undefined;
    if (chunk !== undefined) this.#isReset = chunk.type === "reset-step";
    return chunk;
  }

  /** The run waits: the client has the message up to now. */
  pause(): UIMessageChunk {
    return this.#finish();
  }

  #ofPart(part: NumberedPart): UIMessageChunk | undefined {
    const { response } = part;
    switch (part.type) {
      case "response-start":
        this.#begun.add(response);
        // The step of a retracted response is used again: by the next request for it, or by the next attempt.
        return this.#reset.delete(response) || this.#isReset ? undefined : { type: "start-step" };
      case "retracted":
        return this.#retract(response);
      case "finish":
        this.#finishReason = part.finishReason;
        return { type: "finish-step" };
      default:
        // A client that continues has the start of the response from an earlier connection.
        this.#begun.add(response);
        return this.#hasCall(part) ? this.#ofContent(part) : undefined;
    }
  }

  /** A client refuses the result of a call that it does not know: the recording of a run lacks responses that were replaced. */
  #hasCall(part: NumberedPart): boolean {
    if (!("toolCallId" in part)) return true;
    if (part.type === "tool-call") this.#calls.add(part.toolCallId);
    return this.#isContinued || this.#calls.has(part.toolCallId);
  }

  /**
   * A client refuses a denied call without a request in its next message. There is none if an earlier denial answered the call,
   * or if the process died between the request and its part.
   */
  #ofContent(part: NumberedPart): UIMessageChunk | undefined {
    if (part.type === "tool-approval-request") this.#requested.add(part.toolCallId);
    const lacksRequest =
      part.type === "tool-denied" &&
      this.#calls.has(part.toolCallId) &&
      !this.#requested.has(part.toolCallId);
    return lacksRequest ? errorChunk(part) : contentChunk(part);
  }

  #retract(response: string): UIMessageChunk | undefined {
    const isShown = this.#begun.delete(response) || (this.#isContinued && !this.#hasSent);
    if (!isShown) return undefined;
    this.#reset.add(response);
    return { type: "reset-step" };
  }

  #end(status: "finished" | "failed" | "cancelled"): UIMessageChunk {
    if (status === "cancelled") return { type: "abort" };
    if (status === "failed")
      return { type: "error", errorText: "The answer failed. Send the message again." };
    return this.#finish();
  }

  #finish(): UIMessageChunk {
    const reason = FINISH_REASONS.find((one) => one === this.#finishReason);
    return { type: "finish", ...(reason === undefined ? {} : { finishReason: reason }) };
  }
}

type CallProblem = Extract<NumberedPart, { readonly type: "tool-error" | "tool-denied" }>;

const FINISH_REASONS = ["stop", "length", "content-filter", "tool-calls", "error", "other"] as const;

function contentChunk(part: NumberedPart): UIMessageChunk | undefined {
  switch (part.type) {
    case "text-start":
    case "text-end":
    case "reasoning-start":
    case "reasoning-end":
      return { type: part.type, id: blockId(part, part.id) };
    case "text-delta":
    case "reasoning-delta":
      return { type: part.type, id: blockId(part, part.id), delta: part.delta };
    case "tool-input-start":
      return { type: "tool-input-start", toolCallId: part.id, toolName: part.toolName };
    case "tool-input-delta":
      return { type: "tool-input-delta", toolCallId: part.id, inputTextDelta: part.delta };
    case "file":
      return {
        type: "file",
        mediaType: part.mediaType,
        url: `data:${part.mediaType};base64,${part.data}`,
      };
    case "source":
      return sourceChunk(part.source);
    default:
      return toolChunk(part);
  }
}

function toolChunk(part: NumberedPart): UIMessageChunk | undefined {
  switch (part.type) {
    case "tool-call": {
      const { toolCallId, toolName, input, providerExecuted } = part;
      return {
        type: "tool-input-available",
        toolCallId,
        toolName,
        input,
        ...(providerExecuted === true ? { providerExecuted } : {}),
      };
    }
    case "tool-result":
      return {
        type: "tool-output-available",
        toolCallId: part.toolCallId,
        output: part.output ?? null,
        ...(part.providerExecuted === true ? { providerExecuted: true } : {}),
      };
    case "tool-error":
      return errorChunk(part);
    case "tool-denied":
      return { type: "tool-output-denied", toolCallId: part.toolCallId };
    case "tool-approval-request":
      return { type: "tool-approval-request", toolCallId: part.toolCallId, approvalId: part.approvalId };
    default:
      return undefined;
  }
}

function errorChunk({ toolCallId, error }: CallProblem): UIMessageChunk {
  return { type: "tool-output-error", toolCallId, errorText: error.message };
}

/** Models use the same ids in every response. */
function blockId({ response }: NumberedPart, id: string): string {
  return `${response}:${id}`;
}

function sourceChunk(source: unknown): UIMessageChunk | undefined {
  const { sourceType, id, url, title } = source as Readonly<Record<string, unknown>>;
  if (sourceType !== "url" || typeof url !== "string") return undefined;
  return {
    type: "source-url",
    sourceId: String(id),
    url,
    ...(typeof title === "string" ? { title } : {}),
  };
}
