/** The turns of a chat, as the store knows them. */
import type { UIMessageChunk } from "ai";
import type { Host } from "../../../invoke/host.ts";
import { listApprovals } from "../../../store/tables/approvals.ts";
import { readRunRow } from "../../../store/tables/runs.ts";
import { lastTurn, turnByInput, type TurnWithInput, withInput } from "../../../store/tables/turns.ts";
import { decode } from "../../../util/encode.ts";
import { sha256 } from "../../../util/hash.ts";
import { ChatError } from "./chat-error.ts";
import type { ChatRequest } from "./chat-request.ts";
import { answerId, answerIdOf } from "./read-chunks.ts";

export const CHAT_TURN = "ui-chat";

/** Stored when a turn begins. */
export interface BegunTurn {
  readonly key: string;
  readonly userId: string;
  readonly contentHash: string;
  /** As the model receives them. */
  readonly messages: readonly unknown[];
  /** The answer that the turn continues, with results of the client. */
  readonly answerId?: string | undefined;
  /** That answer up to the results. */
  readonly shown?: readonly UIMessageChunk[] | undefined;
}

export interface ChatTurn {
  readonly number: number;
  readonly began: BegunTurn;
  readonly result: unknown;
  readonly hasEnded: boolean;
  /** It did not end, and retention has deleted the data that it needs to resume. */
  readonly isGivenUp: boolean;
}

/**
 * `live`: a process drives it. `interrupted`: its process has died. `waiting`: for a decision. `ready`: the decisions are
 * made. `failed`: the model failed, and the same message tries again. `given-up`: it cannot resume.
 */
export type TurnState = "live" | "interrupted" | "waiting" | "ready" | "failed" | "given-up" | "ended";

/** `undefined` for a chat that does not exist. */
export async function lastChatTurn(host: Host, chatId: string): Promise<ChatTurn | undefined> {
  const row = await host.store.read(function* () {
    return yield* withInput(yield* lastTurn(chatId));
  });
  return row === undefined || row.kind !== CHAT_TURN ? undefined : toChatTurn(row);
}

/** The turn with this key, which has ended. */
export async function endedTurn(host: Host, chatId: string, key: string): Promise<ChatTurn> {
  const row = await host.store.read(function* () {
    return yield* withInput(yield* turnByInput(chatId, inputHashOf(key)));
  });
  if (row === undefined || row.resultJson === null)
    throw new Error(`the turn of chat "${chatId}" has not ended`);
  return toChatTurn(row);
}

export async function stateOf(host: Host, chatId: string, turn: ChatTurn): Promise<TurnState> {
  if (turn.hasEnded) return "ended";
  if (turn.isGivenUp) return "given-up";
  const { run, isPending } = await host.store.read(function* () {
    const pending = yield* listApprovals({ runId: chatId, status: "pending", limit: 1 }, host.clock.now());
    return { run: yield* readRunRow(chatId), isPending: pending.length > 0 };
  });
  if (run?.state === "running") return (await isOwned(host, run)) ? "live" : "interrupted";
  if (run?.state === "failed") return "failed";
  return isPending ? "waiting" : "ready";
}

/** Whether its process has died, even if that was after the turn had ended: then the run is still listed as running. */
export async function isAbandoned(host: Host, chatId: string, turn: ChatTurn): Promise<boolean> {
  if (turn.isGivenUp) return false;
  const run = await host.store.read(() => readRunRow(chatId));
  return run?.state === "running" && !(await isOwned(host, run));
}

async function isOwned(host: Host, { ownerId }: { readonly ownerId: string | null }): Promise<boolean> {
  return ownerId !== null && host.isOwnerAlive(ownerId);
}

/**
 * The turn that a request is about. `undefined`: a new one.
 * @throws ChatError when the content of the message differs from before, or the answer is not the last one
 */
export async function findTurn(host: Host, request: ChatRequest): Promise<ChatTurn | undefined> {
  const { chatId, key, userId, contentHash } = request;
  const isAnswer = request.answer !== undefined;
  const submitted = `submit ${userId}`;
  const { sent, found, last } = await host.store.read(function* () {
    const row = yield* withInput(yield* turnByInput(chatId, inputHashOf(submitted)));
    return {
      sent: row,
      found: key === submitted ? row : yield* withInput(yield* turnByInput(chatId, inputHashOf(key))),
      last: isAnswer ? yield* withInput(yield* lastTurn(chatId)) : undefined,
    };
  });
  const begun = [sent, found].flatMap((row) => (row === undefined ? [] : [toChatTurn(row).began]));
  if (begun.some((one) => one.contentHash !== contentHash))
    throw new ChatError(
      409,
      "CHAT_MESSAGE_TAKEN",
      `Message "${userId}" was sent before with different content.`,
      "Send the changed message under a new id.",
    );
  if (request.answer === undefined) return found && toChatTurn(found);
  // The last turn of a message may be a regenerated one.
  const open = last?.kind === CHAT_TURN ? toChatTurn(last) : undefined;
  if (open?.began.userId === userId && answerIdOf(chatId, open) === request.answer.id) return open;
  throw new ChatError(
    409,
    "CHAT_ANSWER_STALE",
    `Answer "${request.answer.id}" is not the last one of this chat, so it cannot continue.`,
    "Reload the chat.",
  );
}

export function inputHashOf(key: string): string {
  return sha256(`chat ${key}`);
}

/** A request to regenerate names the answer that it replaces: the same request again is the same turn. */
export async function withKey(host: Host, request: ChatRequest): Promise<ChatRequest> {
  if (!request.isRegenerated) return request;
  const last = await lastChatTurn(host, request.chatId);
  const isSameUser = last?.began.userId === request.userId;
  const isOpen =
    last !== undefined && isSameUser && !last.hasEnded && last.began.key.startsWith("regenerate ");
  if (request.replaces === undefined && isOpen) return { ...request, key: last.began.key };
  const replaces =
    request.replaces ?? (last === undefined ? answerId(request.chatId, 0) : answerIdOf(request.chatId, last));
  return { ...request, key: `regenerate ${request.userId} ${replaces}` };
}

function toChatTurn({ turn, beganJson, resultJson, isGivenUp }: TurnWithInput): ChatTurn {
  return {
    number: turn,
    began: decode(beganJson) as BegunTurn,
    result: resultJson === null ? undefined : decode(resultJson),
    hasEnded: resultJson !== null,
    isGivenUp,
  };
}
