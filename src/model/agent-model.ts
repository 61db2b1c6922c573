/** A model as the agent's loop sees it, whoever made it. */
import type { JsonSchema } from "../definition/json-schema.ts";
import type { AgentMessage } from "./messages.ts";

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

export interface AskOptions {
  /** The same list grows from request to request as long as nothing in it changes. Not to be kept or changed. */
  readonly messages: readonly AgentMessage[];
  readonly system: string;
  readonly tools: readonly OfferedTool[];
  /** A tool has to be called. */
  readonly mustCall: boolean;
  /** What the answer has to be, for models that can be held to it. */
  readonly outputSchema: JsonSchema | undefined;
  readonly signal: AbortSignal | undefined;
  /** Given where the answer is to be streamed. */
  readonly onText: ((text: string) => void) | undefined;
}

export interface ModelUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedInputTokens: number | undefined;
}

export interface ModelCall {
  readonly id: string;
  readonly name: string;
  /** As it was sent. */
  readonly arguments: string;
}

/** A complete answer. JSON: it is put on record before anything of it happens. */
export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** `cut`: there was more to come, so the last call may be half a call. `refused`: it would not answer. */
  readonly finish: "done" | "cut" | "refused";
  readonly usage: ModelUsage;
  readonly provider?: AgentMessage["provider"];
}

export interface AgentModel {
  readonly id: string;
  /** Whether it can be held to a schema. */
  readonly isStructured: boolean;
  ask(options: AskOptions): Promise<ModelAnswer>;
}

/** One for each call: a result has to name the one that it answers. Calls may come without an id, or several with one. */
export function callIds(given: readonly unknown[]): string[] {
  const taken = new Set(given);
  const seen = new Set<unknown>();
  return given.map((id, index) => {
    const isUsable = typeof id === "string" && id !== "" && !seen.has(id);
    seen.add(id);
    if (isUsable) return id;
    let made = `call_${index + 1}`;
    while (taken.has(made)) made += "_";
    taken.add(made);
    return made;
  });
}

export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
