/** What a loop came to, for its caller, and as it is kept for those who ask again. */
import type { Message, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { messageOf } from "../../invoke/error-record.ts";
import { storableUnparsedInput, storableOutput } from "../../invoke/storable.ts";
import { closeAnswers } from "./close-answers.ts";
import type { LoopEnd } from "./drive-loop.ts";
import type { AgentLoopResult, LoopStop } from "./options.ts";

/** Kept for good once a loop has ended. Without what must not be stored. */
export interface KeptResult extends Pick<
  AgentLoopResult,
  "status" | "reason" | "stop" | "terminal" | "container"
> {
  /** The messages that were added. */
  readonly added: readonly MessageParam[];
}

/** Loops that stopped like this have not ended: the same run id goes on with them. */
const GOES_ON: ReadonlySet<LoopStop> = new Set(["approval", "max-turns", "api-error"]);

export function hasEnded({ stop }: LoopEnd): boolean {
  return !GOES_ON.has(stop);
}

export function toKept(end: LoopEnd, secret: string): KeptResult {
  const { terminal } = end;
  const shown = terminal && {
    name: terminal.spec.name,
    input: storableUnparsedInput(terminal.spec, terminal.input, secret),
    output: storableOutput(terminal.spec, terminal.input, terminal.output, secret),
  };
  return {
    status: statusOf(end),
    reason: shown === undefined ? reasonOf(end) : reasonOfTerminal(shown),
    stop: end.stop,
    ...(shown === undefined ? {} : { terminal: shown }),
    ...(end.container === undefined ? {} : { container: end.container }),
    added: closeAnswers(end.history.kept, end.isPaused === true),
  };
}

/** From the record. */
export function fromKept(
  kept: KeptResult,
  messages: readonly MessageParam[],
  runId: string,
): AgentLoopResult {
  const { added, ...result } = kept;
  return { ...result, messages: [...messages, ...added], runId };
}

export function toResult(end: LoopEnd, kept: KeptResult, runId: string): AgentLoopResult {
  const { terminal, pending, error } = end;
  const { added: _added, ...result } = kept;
  return {
    ...result,
    messages: closeAnswers(end.history.messages, end.isPaused === true),
    ...(terminal === undefined
      ? {}
      : { terminal: { name: terminal.spec.name, input: terminal.input, output: terminal.output } }),
    runId,
    ...(pending === undefined ? {} : { approvals: pending }),
    ...(error === undefined ? {} : { error }),
  };
}

function statusOf({ stop, terminal }: LoopEnd): AgentLoopResult["status"] {
  if (terminal !== undefined) return terminal.status as AgentLoopResult["status"];
  if (stop === "approval") return "waiting";
  return stop === "end-turn" ? "complete" : "failed";
}

function reasonOfTerminal({ name, output }: { name: string; output: unknown }): string {
  if (typeof output === "string" && output !== "") return output;
  const said =
    typeof output === "object" && output !== null && "message" in output ? output.message : undefined;
  return typeof said === "string" ? said : `The tool "${name}" ended the loop.`;
}

function reasonOf({ stop, response, pending = [], error }: LoopEnd): string {
  switch (stop) {
    case "end-turn":
      return textOf(response) || "The model ended its turn.";
    case "max-tokens":
      return "max_tokens: the response was cut off. Allow more with maxTokens.";
    case "context-window":
      return "model_context_window_exceeded: the conversation fills the model's window.";
    case "refusal":
      return `refusal: the model declined to answer. ${response?.stop_details?.explanation ?? ""}`.trim();
    case "approval":
      return `Waits for a person: ${pending.map(({ toolName }) => toolName).join(", ")}.`;
    case "max-turns":
      return "max_turns: the loop has asked as often as it may. The same run id goes on with a higher maxTurns.";
    case "api-error":
      return `The API failed: ${messageOf(error)}`;
    case "terminal-tool":
      return "A tool ended the loop.";
  }
}

function textOf(response: Message | undefined): string {
  const texts = response?.content.flatMap((block) => (block.type === "text" ? [block.text] : [])) ?? [];
  return texts.join("\n").trim();
}
