/** The chats of a handler: which turns this process drives, and what clients receive of them. */
import type { UIMessage, UIMessageChunk } from "ai";
import { ToolwrightError } from "../../../errors.ts";
import { messageOf } from "../../../invoke/error-record.ts";
import type { Host } from "../../../invoke/host.ts";
import { type OpenRuntime, useRuntime } from "../../../runtime/create-runtime.ts";
import type { Runtime } from "../../../runtime/runtime.ts";
import { lastIndexOf, nextIndexOf, requestStop } from "../../../store/tables/streams.ts";
import { toTerminalLine } from "../../../terminal/terminal-text.ts";
import { systemClock } from "../../../util/clock.ts";
import { afterRequests, chunksAfterRequests, lateDecisions } from "./after-requests.ts";
import { ChatError } from "./chat-error.ts";
import type { ChatRequest } from "./chat-request.ts";
import {
  type BegunTurn,
  type ChatTurn,
  findTurn,
  isAbandoned,
  lastChatTurn,
  endedTurn,
  stateOf,
  withKey,
} from "./chat-turns.ts";
import { continuedTurn } from "./client-results.ts";
import { type ChatAgent, driveTurn } from "./drive-turn.ts";
import { type AnsweringTurn, answerIdOf, readChunks } from "./read-chunks.ts";
import { type ChatIdentity, settleDecisions } from "./settle-decisions.ts";
import { sseResponse, storedAnswerChunks } from "./sse-response.ts";
import type { StoredAnswer } from "./stored-answer.ts";
import { toModelMessages } from "./to-model-messages.ts";
import type { IndexedChunk } from "./ui-chunks.ts";
import { watchOwner } from "./watch-owner.ts";

/** A turn that this process drives. */
interface Driven {
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

const STOP_WAIT_MS = 10_000;
const STOP_POLL_MS = 50;

export class Chats {
  readonly #runtime: Runtime;
  readonly #agent: ChatAgent;
  readonly #driven = new Map<string, Driven>();

  constructor(runtime: Runtime, agent: ChatAgent) {
    this.#runtime = runtime;
    this.#agent = agent;
  }

  with({ host }: OpenRuntime) {
    return {
      send: (request: ChatRequest, identity: ChatIdentity) => this.#send(host, request, identity),
      resume: (chatId: string, from: number | undefined) => this.#resume(host, chatId, from),
      stop: (chatId: string) => this.#stop(host, chatId),
    };
  }

  async #send(host: Host, given: ChatRequest, identity: ChatIdentity): Promise<Response> {
    const { chatId, answer } = given;
    await this.#runtime.ready();
    const request = await withKey(host, given);
    const turn = await findTurn(host, request);
    if (turn === undefined) {
      await assertIdle(host, chatId);
      const messages = await toModelMessages(request, this.#agent);
      const { key, userId, contentHash } = request;
      return this.#drive(host, chatId, { key, userId, contentHash, messages }, 0);
    }
    if (turn.hasEnded) {
      const next = await continuedTurn(request, turn, this.#agent);
      return next === undefined ? replay(chatId, turn, answer) : this.#drive(host, chatId, next, 0, answer);
    }
    if (answer !== undefined)
      await settleDecisions(this.#runtime, chatId, answer, identity, {
        tools: this.#agent.tools ?? {},
        secret: host.store.secret,
      });
    // The client has the answer up to the decision; the rest follows.
    const from = answer === undefined ? 0 : await afterRequests(host, chatId, answer);
    const state = await stateOf(host, chatId, turn);
    return state === "live" || state === "waiting"
      ? this.#join(host, chatId, turn, from, answer)
      : this.#drive(host, chatId, turn.began, from, answer);
  }

  async #resume(host: Host, chatId: string, from: number | undefined): Promise<Response> {
    await this.#runtime.ready();
    const turn = await lastChatTurn(host, chatId);
    if (turn === undefined) return new Response(null, { status: 204 });
    const state = await stateOf(host, chatId, turn);
    if (from !== undefined) await assertWithin(host, chatId, from, state === "live");
    if (state === "live") return this.#join(host, chatId, turn, from ?? 0);
    if (state === "interrupted" || state === "ready") return this.#drive(host, chatId, turn.began, from ?? 0);
    return new Response(null, { status: 204 });
  }

  async #stop(host: Host, chatId: string): Promise<void> {
    await this.#runtime.ready();
    const turn = await lastChatTurn(host, chatId);
    if (turn === undefined)
      throw new ChatError(404, "CHAT_NOT_FOUND", `There is no chat "${chatId}".`, "Check the id.");
    if (turn.hasEnded || turn.isGivenUp) return;
    await host.store.transaction(() => requestStop(chatId, turn.number), "normal");
    const driven = this.#driven.get(chatId);
    driven?.stop.abort(new Error("stopped"));
    await driven?.done;
    for (const until = performance.now() + STOP_WAIT_MS; performance.now() < until;) {
      const now = await lastChatTurn(host, chatId);
      if (now === undefined || now.hasEnded || now.number !== turn.number) return;
      // If no process drives it, this one ends it.
      const isLive = (await stateOf(host, chatId, now)) === "live";
      if (isLive || !(await this.#endStopped(chatId, now.began))) await systemClock.sleep(STOP_POLL_MS);
    }
  }

  /** Whether it has ended. A process that takes it at the same time ends it too. */
  async #endStopped(chatId: string, began: BegunTurn): Promise<boolean> {
    try {
      await this.#start(chatId, began, () => Promise.resolve());
      return true;
    } catch {
      // The next look finds out how the turn ended.
      return false;
    }
  }

  /** Starts the turn, and returns its stream. The client is connected before the model is called. */
  async #drive(
    host: Host,
    chatId: string,
    began: BegunTurn,
    from: number,
    shown?: UIMessage,
  ): Promise<Response> {
    const begun = Promise.withResolvers<number | undefined>();
    const connected = Promise.withResolvers<void>();
    const done = this.#start(chatId, began, (number) => {
      begun.resolve(number);
      return connected.promise;
    });
    // The errors of a turn that has begun are in its stream. A turn that another process has ended does not begin.
    done.then(() => begun.resolve(undefined), begun.reject);
    try {
      const number = await begun.promise;
      if (number === undefined) return replay(chatId, await endedTurn(host, chatId, began.key), shown);
      const read = this.#read(chatId, number, from, connected.resolve);
      return respond(chatId, { number, began }, read, shownBefore(began, from, shown));
    } catch (error) {
      connected.resolve();
      const turn = isConflict(error) ? await lastChatTurn(host, chatId) : undefined;
      // The same message arrived twice at the same time.
      if (turn?.began.key === began.key) return this.#join(host, chatId, turn, from, shown);
      throw error;
    }
  }

  async #start(chatId: string, began: BegunTurn, onBegin: (turn: number) => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const ended = Promise.withResolvers<void>();
    const driven = { stop, done: ended.promise };
    let hasBegun = false;
    const begin = (turn: number): Promise<void> => {
      hasBegun = true;
      this.#driven.set(chatId, driven);
      return onBegin(turn);
    };
    try {
      await useRuntime(this.#runtime, (opened) =>
        driveTurn(opened, { chatId, agent: this.#agent, began, stop, onBegin: begin }),
      );
    } catch (error) {
      if (hasBegun) reportFailure(chatId, error);
      throw error;
    } finally {
      if (this.#driven.get(chatId) === driven) this.#driven.delete(chatId);
      ended.resolve();
    }
  }

  /**
   * The stream of a turn that runs already. It may end at any time, and its parts with it.
   * @param shown the answer that the client continues
   */
  async #join(
    host: Host,
    chatId: string,
    turn: ChatTurn,
    from: number,
    shown?: UIMessage,
  ): Promise<Response> {
    const { number, began } = turn;
    const ready = Promise.withResolvers<void>();
    const read = this.#read(chatId, number, from, ready.resolve);
    // From now on it misses nothing. Its first part may take long: the model thinks, or a tool works.
    await ready.promise;
    const now = await lastChatTurn(host, chatId);
    if (now?.number !== number || !now.hasEnded)
      return respond(chatId, turn, read, shownBefore(began, from, shown));
    read.leave();
    return replay(chatId, now, shown);
  }

  /** Starts immediately, not when the client reads: the turn may wait for it. */
  #read(chatId: string, turn: number, from: number, onReady?: () => void): StartedRead {
    const leaving = new AbortController();
    const chunks = this.#watched(
      chatId,
      readChunks(this.#runtime, chatId, { turn, from, signal: leaving.signal, onReady }),
    );
    const first = chunks.next();
    // A reader that failed must not hold the turn. The body of the response reports the error.
    first.catch(() => onReady?.());
    return { chunks, first, leave: () => leaving.abort() };
  }

  async *#watched(
    chatId: string,
    chunks: AsyncGenerator<IndexedChunk, void, void>,
  ): AsyncGenerator<IndexedChunk, void, void> {
    const stopWatching = watchOwner(() => this.#rescue(chatId));
    try {
      yield* chunks;
    } finally {
      stopWatching();
    }
  }

  /** Drives the turn if its process has died: no one else would, until a client connects again. */
  async #rescue(chatId: string): Promise<void> {
    if (this.#driven.has(chatId)) return;
    const began = await useRuntime(this.#runtime, async ({ host }) => {
      const turn = await lastChatTurn(host, chatId);
      return turn !== undefined && (await isAbandoned(host, chatId, turn)) ? turn.began : undefined;
    });
    if (began !== undefined) await this.#start(chatId, began, () => Promise.resolve());
  }
}

interface StartedRead {
  readonly chunks: AsyncGenerator<IndexedChunk, void, void>;
  readonly first: Promise<IteratorResult<IndexedChunk, void>>;
  /** Ends the reader, and nothing else. */
  readonly leave: () => void;
}

/** A client that shows no part of the answer yet also receives the answer that the turn continues. */
function shownBefore(
  { shown = [] }: BegunTurn,
  from: number,
  client: UIMessage | undefined,
): readonly UIMessageChunk[] {
  return client === undefined && from === 0 ? shown : [];
}

function respond(
  chatId: string,
  turn: AnsweringTurn,
  read: StartedRead,
  before: readonly UIMessageChunk[],
): Response {
  return sseResponse(withStart(answerIdOf(chatId, turn), before, read), read.leave);
}

async function* withStart(
  messageId: string,
  before: readonly UIMessageChunk[],
  { first, chunks }: StartedRead,
): AsyncGenerator<IndexedChunk, void, void> {
  yield { chunk: { type: "start", messageId } };
  for (const chunk of before) yield { chunk };
  const { done, value } = await first;
  if (done === true) return;
  yield value;
  yield* chunks;
}

function isConflict(error: unknown): boolean {
  return ToolwrightError.is(error) && error.code === "TOOL_RUN_CONFLICT";
}

/** Clients only read that the answer has failed. */
function reportFailure(chatId: string, error: unknown): void {
  if (isConflict(error) || isFenced(error)) return;
  const hint = ToolwrightError.is(error) ? ` ${error.hint}` : "";
  console.error(`toolwright: chat ${toTerminalLine(chatId)}: ${toTerminalLine(messageOf(error) + hint)}`);
}

/** Another process has taken over the turn, and answers. */
function isFenced(error: unknown): boolean {
  return ToolwrightError.is(error) && error.code === "TOOL_RUN_FENCED";
}

function replay(chatId: string, turn: ChatTurn, shown?: UIMessage): Response {
  const { chunks } = turn.result as StoredAnswer;
  const rest = [...chunksAfterRequests(chunks, shown), ...lateDecisions(chunks, shown)];
  const all = [...shownBefore(turn.began, 0, shown), ...rest];
  return sseResponse(storedAnswerChunks(answerIdOf(chatId, turn), all));
}

/** One turn at a time. @throws ChatError */
async function assertIdle(host: Host, chatId: string): Promise<void> {
  const last = await lastChatTurn(host, chatId);
  if (last === undefined || (await stateOf(host, chatId, last)) !== "live") return;
  throw new ChatError(
    409,
    "CHAT_BUSY",
    "The previous message is still being answered.",
    "Wait for the answer, or stop it with DELETE <api>/:id/stream.",
  );
}

/** Another process may have shown parts that it has not stored yet. */
const UNSTORED_PARTS = 10_000;

/** @throws ChatError */
async function assertWithin(host: Host, chatId: string, from: number, isLive: boolean): Promise<void> {
  const { last, next } = await host.store.read(function* () {
    return { last: yield* lastIndexOf(chatId), next: (yield* nextIndexOf(chatId)) ?? 0 };
  });
  const own = host.streams.current(chatId)?.nextIndex;
  const end = own ?? (isLive ? Math.min(next, last + 1 + UNSTORED_PARTS) : next);
  if (from <= end) return;
  throw new ChatError(
    416,
    "CHAT_FROM_TOO_LARGE",
    `The stream ends before part ${from}.`,
    "Leave `from` out.",
  );
}
