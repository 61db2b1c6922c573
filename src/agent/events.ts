/** What an agent tells while it runs. For people and programs that watch; nothing depends on it, and what they throw harms nobody. */
import type { RuntimeEvent } from "../invoke/events.ts";
import type { Plan } from "./state.ts";

export type SmartAgentEvent =
  | RuntimeEvent
  | {
      readonly type: "tool_call";
      /** `skipped`: it was on record, in the cache, or waits for a person. */
      readonly phase: "start" | "success" | "error" | "skipped";
      readonly name: string;
      readonly id: string;
      readonly args?: unknown;
      readonly result?: unknown;
      readonly error?: { readonly message: string };
      readonly executionId?: string;
    }
  | {
      readonly type: "tool_approval";
      readonly status: "pending";
      readonly id: string;
      readonly toolName: string;
      readonly toolCallId: string | undefined;
      readonly args: unknown;
    }
  | ({ readonly type: "plan"; readonly source: "manage_todo_list"; readonly operation: string } & Plan)
  | {
      readonly type: "summarization";
      /** What stands in the place of what was left out; `""` where results were only archived. */
      readonly summary: string;
      readonly archivedCount: number;
      readonly messagesCompressed: number;
      readonly tokenCountBefore: number;
      readonly tokenCountAfter: number;
    }
  /** An answer of the model is on record. `replayed`: it was before, and was not asked for now. */
  | {
      readonly type: "metadata";
      readonly modelName: string;
      readonly usage: {
        readonly inputTokens: number | undefined;
        readonly outputTokens: number | undefined;
        readonly cachedInputTokens: number | undefined;
      };
      readonly costUsd: number;
      readonly replayed: boolean;
    }
  /** A piece of an answer that is still on its way. It counts when `metadata` has come. */
  | { readonly type: "stream"; readonly text: string }
  /** A budget is spent: one more answer is asked for, without tools. */
  | { readonly type: "budget"; readonly budget: string }
  | { readonly type: "finalAnswer"; readonly content: string; readonly output?: unknown }
  | { readonly type: "cancelled"; readonly reason: string }
  /** Told by an agent that is a tool of this one. `executionId`: of the call that it works in. */
  | {
      readonly type: "sub_agent";
      readonly name: string;
      readonly executionId: string;
      readonly event: SmartAgentEvent;
    }
  /** The agent asks something else than what is on record; from this answer on it is live. */
  | { readonly type: "replay-diverged"; readonly position: number };

export type Tell = (event: SmartAgentEvent) => void;
