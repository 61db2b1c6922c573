/** The model interface of the agent loop, for models of any library. */
import type { JsonSchema } from "../definition/json-schema.ts";
import type { StreamPartDetails } from "../stream/stream-part.ts";
import type { AgentMessage } from "./messages.ts";

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

export interface AskOptions {
  /** The same array grows from request to request until a message in it changes. Do not store or change it. */
  readonly messages: readonly AgentMessage[];
  readonly system: string;
  readonly tools: readonly OfferedTool[];
  /** The model must call a tool. */
  readonly mustCall: boolean;
  /** The schema of the answer, for models with structured output. */
  readonly outputSchema: JsonSchema | undefined;
  readonly signal: AbortSignal | undefined;
  /** Present when the response is streamed. Calls and the end are not passed. */
  readonly onPart: ((part: StreamPartDetails) => void) | undefined;
}

export interface ModelUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedInputTokens: number | undefined;
}

export interface ModelCall {
  readonly id: string;
  readonly name: string;
  /** As the model sent it. */
  readonly arguments: string;
}

/** A complete response. It is JSON: it is stored before its calls run. */
export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** `cut`: the response was truncated, so its last call may be incomplete. `refused`: the model refused to answer. */
  readonly finish: "done" | "cut" | "refused";
  readonly usage: ModelUsage;
  readonly provider?: AgentMessage["provider"];
}

export interface AgentModel {
  readonly id: string;
  /** As its library names it. `undefined` if it does not. */
  readonly provider?: string | undefined;
  /** Whether the model supports structured output. */
  readonly isStructured: boolean;
  ask(options: AskOptions): Promise<ModelAnswer>;
}

/** A unique id for each call, since a result names its call. Models may omit ids or repeat one. */
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
