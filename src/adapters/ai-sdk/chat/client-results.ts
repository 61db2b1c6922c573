/**
 * A tool without `execute` runs in the client: its call ends the turn, and the client sends its result with the answer. The
 * answer continues in its own turn, under the same id.
 */
import type { UIMessage, UIMessageChunk } from "ai";
import type { ChatRequest } from "./chat-request.ts";
import type { BegunTurn, ChatTurn } from "./chat-turns.ts";
import type { ChatAgent } from "./drive-turn.ts";
import { answerIdOf } from "./read-chunks.ts";
import type { StoredAnswer } from "./stored-answer.ts";
import { toModelMessages } from "./to-model-messages.ts";

/**
 * The turn that continues an answer which has ended. The same results again are the same turn.
 * @returns `undefined` if the client sends no result that the answer waits for
 * @throws ChatError
 */
export async function continuedTurn(
  request: ChatRequest,
  turn: ChatTurn,
  agent: ChatAgent,
): Promise<BegunTurn | undefined> {
  const { answer, chatId, userId, contentHash } = request;
  if (answer === undefined) return undefined;
  const { chunks } = turn.result as StoredAnswer;
  const results = resultsOf(openCallsIn(chunks, agent.tools ?? {}), answer);
  if (results.length === 0) return undefined;
  const messages = await toModelMessages({ ...request, messages: [...request.messages, answer] }, agent);
  return {
    key: `continue ${turn.number}`,
    userId,
    contentHash,
    messages,
    answerId: answerIdOf(chatId, turn),
    shown: [...(turn.began.shown ?? []), ...chunks, ...results],
  };
}

function openCallsIn(
  chunks: readonly UIMessageChunk[],
  tools: Readonly<Record<string, unknown>>,
): ReadonlySet<string> {
  const open = new Set<string>();
  for (const chunk of chunks) {
    if (chunk.type === "tool-input-available" && chunk.providerExecuted !== true) {
      const tool = Object.hasOwn(tools, chunk.toolName) ? tools[chunk.toolName] : undefined;
      if (runsInClient(tool)) open.add(chunk.toolCallId);
    } else if (chunk.type === "tool-output-available" || chunk.type === "tool-output-error")
      open.delete(chunk.toolCallId);
  }
  return open;
}

function runsInClient(tool: unknown): boolean {
  return (
    typeof tool === "object" &&
    tool !== null &&
    (tool as { readonly execute?: unknown }).execute === undefined
  );
}

function resultsOf(open: ReadonlySet<string>, answer: UIMessage): UIMessageChunk[] {
  return (answer.parts as readonly Readonly<Record<string, unknown>>[]).flatMap((part): UIMessageChunk[] => {
    const { toolCallId, state, output, errorText } = part;
    if (typeof toolCallId !== "string" || !open.has(toolCallId)) return [];
    if (state === "output-available") return [{ type: "tool-output-available", toolCallId, output }];
    if (state !== "output-error") return [];
    return [{ type: "tool-output-error", toolCallId, errorText: String(errorText) }];
  });
}
