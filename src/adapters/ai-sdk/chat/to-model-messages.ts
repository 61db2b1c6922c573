/** The messages of a client as the model receives them. */
import type { UIMessage } from "ai";
import { importPeer } from "../../../load/import-peer.ts";
import { ChatError } from "./chat-error.ts";
import type { ChatRequest } from "./chat-request.ts";
import type { ChatAgent } from "./drive-turn.ts";

export async function toModelMessages(request: ChatRequest, agent: ChatAgent): Promise<unknown[]> {
  assertNoInstructions(request, agent);
  const { convertToModelMessages, validateUIMessages } = await importPeer("ai", () => import("ai"));
  try {
    const messages = await validateUIMessages({ messages: request.messages.map(withoutOpenCalls) });
    return await convertToModelMessages(messages, { tools: (agent.tools ?? {}) as never });
  } catch (error) {
    throw new ChatError(
      400,
      "CHAT_BAD_REQUEST",
      `The messages are not valid: ${error instanceof Error ? error.message : String(error)}`,
      "Send the messages that useChat sends.",
    );
  }
}

/** The SDK refuses them unless the agent allows them, and the turn would fail each time that it is driven. */
function assertNoInstructions({ messages }: ChatRequest, agent: ChatAgent): void {
  const { settings } = agent as { readonly settings?: { readonly allowSystemInMessages?: unknown } };
  if (settings === undefined || settings.allowSystemInMessages === true) return;
  if (messages.some(({ role }) => role === "system"))
    throw new ChatError(
      400,
      "CHAT_BAD_REQUEST",
      "The agent accepts no system messages from clients.",
      "Use the instructions of the agent.",
    );
}

const HAS_RESULT = /^output-/;

/**
 * A turn that was stopped, or replaced while it waited, leaves calls without a result. A decision about such a call counts in
 * the last message only, and providers refuse calls without a result.
 */
function withoutOpenCalls(message: UIMessage): UIMessage {
  if (message.role !== "assistant") return message;
  const parts = message.parts
    .filter((part) => !("toolCallId" in part) || HAS_RESULT.test(String((part as { state?: unknown }).state)))
    .map(withDecision);
  return { ...message, parts };
}

/**
 * A client that did not make the decision itself sends a result without a decision, or a denied call without a request. The
 * AI SDK refuses both, in every later message. The result shows which decision it was.
 */
function withDecision(part: UIMessage["parts"][number]): UIMessage["parts"][number] {
  if (!("toolCallId" in part)) return part;
  const { state, toolCallId, approval } = part as ShownCall;
  const isDenied = state === "output-denied";
  if (approval?.approved !== undefined || (approval === undefined && !isDenied)) return part;
  return { ...part, approval: { id: toolCallId, ...approval, approved: !isDenied } } as typeof part;
}

interface ShownCall {
  readonly state: string;
  readonly toolCallId: string;
  readonly approval?: { readonly id: string; readonly approved?: boolean } | undefined;
}
