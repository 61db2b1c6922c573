/** The result of a loop, for its caller and as stored for later calls with the same run id. */
import type { Message, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { messageOf } from "../../invoke/error-record.ts";
import { storableUnparsedInput, storableOutput } from "../../invoke/storable.ts";
import { dropIncompleteBlocks } from "./drop-incomplete-blocks.ts";
import type { LoopEnd } from "./drive-loop.ts";
import type { AgentLoopResult, LoopStop } from "./options.ts";

/** Stored when a loop has ended, with redactions. Its fields are a stored format. */
export interface StoredResult extends Pick<
  AgentLoopResult,
  "status" | "reason" | "stop" | "terminal" | "container"
> {
  /** The messages that were added. */
  readonly added: readonly MessageParam[];
}

/** Loops with these stops have not ended: the same run id resumes them. */
const RESUMABLE: ReadonlySet<LoopStop> = new Set(["approval", "max-turns", "api-error"]);

export function hasEnded({ stop }: LoopEnd): boolean {
  return !RESUMABLE.has(stop);
}

export function toStoredResult(end: LoopEnd, secret: string): StoredResult {
  const { terminal } = end;
  const masked = terminal && {
    name: terminal.spec.name,
    input: storableUnparsedInput(terminal.spec, terminal.input, secret),
    output: storableOutput(terminal.spec, terminal.input, terminal.output, secret),
  };
  return {
    status: statusOf(end),
    reason: masked === undefined ? reasonOf(end) : reasonOfTerminal(masked),
    stop: end.stop,
    ...(masked === undefined ? {} : { terminal: masked }),
    ...(end.container === undefined ? {} : { container: end.container }),
    added: dropIncompleteBlocks(end.history.stored, end.isPaused === true),
  };
}

export function fromStoredResult(
  stored: StoredResult,
  messages: readonly MessageParam[],
  runId: string,
): AgentLoopResult {
  const { added, ...result } = stored;
  return { ...result, messages: [...messages, ...added], runId };
}

export function toResult(end: LoopEnd, stored: StoredResult, runId: string): AgentLoopResult {
  const { terminal, pending, error } = end;
  const { added: _added, ...result } = stored;
  return {
    ...result,
    messages: dropIncompleteBlocks(end.history.messages, end.isPaused === true),
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
  const message =
    typeof output === "object" && output !== null && "message" in output ? output.message : undefined;
  return typeof message === "string" ? message : `The tool "${name}" ended the loop.`;
}

function reasonOf({ stop, response, pending = [], error }: LoopEnd): string {
  switch (stop) {
    case "end-turn":
      return textOf(response) || "The model ended its turn.";
    case "max-tokens":
      return "max_tokens: the response was truncated. Set a higher maxTokens.";
    case "context-window":
      return "model_context_window_exceeded: the conversation fills the model's context window.";
    case "refusal":
      return `refusal: the model declined to answer. ${response?.stop_details?.explanation ?? ""}`.trim();
    case "approval":
      return `Waits for approval: ${pending.map(({ toolName }) => toolName).join(", ")}.`;
    case "max-turns":
      return "max_turns: the loop reached its limit. Resume it with the same run id and a higher maxTurns.";
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
