/** What a loop tells while it runs: its own news, and what the runtime says about its calls. Nothing depends on it. */
import type { Message, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import type { RuntimeEvent } from "../../invoke/events.ts";

export type AgentLoopEvent =
  | RuntimeEvent
  /** A piece of a response that is still on its way. It counts when `response-received` has come. */
  | { readonly type: "text-delta"; readonly turn: number; readonly text: string }
  | { readonly type: "thinking-delta"; readonly turn: number; readonly thinking: string }
  /** What came of it so far is void: the stream broke off, or the loop was aborted. */
  | { readonly type: "response-discarded"; readonly turn: number }
  /** It is on record. `replayed`: it was before, and was not asked for now. */
  | {
      readonly type: "response-received";
      readonly turn: number;
      readonly message: Message;
      readonly replayed: boolean;
    }
  | {
      readonly type: "messages-steered";
      readonly turn: number;
      readonly messages: readonly MessageParam[];
      readonly replayed: boolean;
    }
  /** The oldest messages are no longer sent, so that the request fits. `left` are sent. */
  | {
      readonly type: "history-trimmed";
      readonly turn: number;
      readonly dropped: number;
      readonly left: number;
    }
  /** The loop asks something else than what is on record; from this turn on it is live. */
  | { readonly type: "replay-diverged"; readonly turn: number };

/** An event of the loop itself, without its turn. */
export type LoopNews = AgentLoopEvent extends infer Event
  ? Event extends { readonly turn: number }
    ? Omit<Event, "turn">
    : never
  : never;
