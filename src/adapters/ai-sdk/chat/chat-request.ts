/** The body that `useChat` sends. Only what is needed here is checked; the AI SDK validates the messages. */
import type { UIMessage } from "ai";
import { aRunId, Problem } from "../../../definition/option-checks.ts";
import { canonicalText } from "../../../util/canonical.ts";
import { sha256 } from "../../../util/hash.ts";
import { ChatError } from "./chat-error.ts";

/** Files are part of messages. */
const LARGEST_BODY_BYTES = 10 * 1_048_576;

export interface ChatRequest {
  readonly chatId: string;
  /** Up to the user message that is answered. */
  readonly messages: readonly UIMessage[];
  /** The same for every request about the same answer. */
  readonly key: string;
  /** The user's message. */
  readonly userId: string;
  readonly contentHash: string;
  /** The last message, if it is an answer that continues after decisions. */
  readonly answer: UIMessage | undefined;
  /** The answer that is replaced. `undefined`: the last one. */
  readonly replaces: string | undefined;
  readonly isRegenerated: boolean;
}

/** @throws ChatError */
export async function readBody(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new ChatError(
      415,
      "CHAT_UNSUPPORTED_TYPE",
      "The body must be application/json.",
      "Send the body that useChat sends.",
    );
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > LARGEST_BODY_BYTES)
      throw new ChatError(
        413,
        "CHAT_BODY_TOO_LARGE",
        "The body is larger than 10 MiB.",
        "Send smaller files.",
      );
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    throw invalid("The body is not valid JSON.");
  }
}

/** @throws ChatError */
export function parseRequest(body: unknown): ChatRequest {
  if (typeof body !== "object" || body === null) throw invalid("The body must be an object.");
  const { id, messages, trigger = "submit-message", messageId } = body as Readonly<Record<string, unknown>>;
  const chatId = checkChatId(id);
  if (trigger !== "submit-message" && trigger !== "regenerate-message")
    throw invalid('`trigger` must be "submit-message" or "regenerate-message".');
  if (messageId !== undefined && messageId !== null && typeof messageId !== "string")
    throw invalid("`messageId` must be a string.");
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage))
    throw invalid("`messages` must be a list of messages { id, role, parts }.");
  const isRegenerated = trigger === "regenerate-message";
  const last = messages.findLastIndex(({ role }) => role === "user");
  const user = messages[last];
  if (user === undefined) throw invalid("`messages` must contain a user message.");
  const answer = messages.at(-1)?.role === "assistant" && !isRegenerated ? messages.at(-1) : undefined;
  return {
    chatId,
    messages: messages.slice(0, last + 1),
    key: `submit ${user.id}`,
    userId: user.id,
    contentHash: sha256(canonicalText(user.parts)),
    answer,
    // useChat may name the user's message instead of an answer.
    replaces: isRegenerated && messageId !== user.id ? (messageId ?? undefined) : undefined,
    isRegenerated,
  };
}

/** @throws ChatError */
export function checkChatId(id: unknown): string {
  try {
    aRunId(id, "id");
    return id as string;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw invalid(`The chat id is not valid: ${error.sentence}`);
  }
}

function isMessage(value: unknown): value is UIMessage {
  if (typeof value !== "object" || value === null) return false;
  const { id, role, parts } = value as Readonly<Record<string, unknown>>;
  const isRole = role === "user" || role === "assistant" || role === "system";
  return typeof id === "string" && id !== "" && isRole && Array.isArray(parts);
}

export function invalid(message: string): ChatError {
  return new ChatError(400, "CHAT_BAD_REQUEST", message, "Send the body that useChat sends.");
}
