/**
 * Reads the parts of a run, live, in any process. Parts that this runtime writes arrive at once; those of other processes are
 * read from the store after each of their commits. A reader that is slow delays only itself: what it has not taken is dropped
 * here, and read from the store when it continues.
 */
import { randomUUID } from "node:crypto";
import type { Store, Transaction } from "../store/store.ts";
import type { RunState } from "../store/run-words.ts";
import { readRunRow } from "../store/tables/runs.ts";
import {
  forgetReader,
  nextIndexOf,
  noteReader,
  readParts,
  unwantStream,
  wantStream,
} from "../store/tables/streams.ts";
import { ToolwrightError } from "../errors.ts";
import { Inbox } from "./inbox.ts";
import { numberCommitted, numberMissingResults } from "./number-committed.ts";
import type { RunStreams } from "./run-streams.ts";
import type { NumberedPart, StreamPart } from "./stream-part.ts";

export interface StreamReadOptions {
  readonly from?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Ends without an `ended` part in these states. */
  readonly until?: readonly RunState[] | undefined;
  /** From now on, no part is missed. */
  readonly onReady?: (() => void) | undefined;
}

const OVER: ReadonlySet<string> = new Set(["finished", "failed", "cancelled"]);
/** A reader of another process that does not answer for this long is not waited for. */
const READER_MS = 10_000;
const RENEW_MS = 3_000;

interface Pulled {
  readonly parts: NumberedPart[];
  readonly state: RunState | undefined;
  readonly nextIndex: number;
}

/** A run that does not exist yet is waited for. Ends quietly when the signal fires. */
export async function* readStream(
  store: Store,
  streams: RunStreams,
  runId: string,
  { from = 0, signal, until = [], onReady }: StreamReadOptions = {},
): AsyncGenerator<StreamPart, void, void> {
  const inbox = new Inbox();
  let isStale = true;
  let woken = Promise.withResolvers<void>();
  const wake = (): void => woken.resolve();
  const stopListening = await streams.listen(
    runId,
    (part) => {
      inbox.add(part);
      wake();
    },
    () => {
      isStale = true;
      wake();
    },
  );
  signal?.addEventListener("abort", wake, { once: true });
  const isAborted = (): boolean => signal?.aborted === true;
  const remote = new RemoteReader(store, streams, runId);
  let next = from;
  try {
    const isRead = await store.read(() => isWritten(runId));
    if (!isRead) await store.transaction(() => startReading(runId), "normal");
    await remote.note(next - 1);
    onReady?.();
    while (!isAborted()) {
      woken = Promise.withResolvers<void>();
      let pulled: Pulled | undefined;
      const dropped = inbox.reopen();
      if (isStale || dropped !== undefined) {
        isStale = false;
        // What a local reader has not received yet is in its inbox already, so the store holds no later part.
        await streams.current(runId)?.flush();
        const start = next;
        pulled = await store.read(() => pull(runId, start));
        if (dropped !== undefined && dropped.index >= start) assertStored(runId, dropped, pulled.parts);
      }
      const found = [...inbox.take(), ...(pulled?.parts ?? [])]
        .filter(({ index }) => index >= next)
        .sort((one, other) => one.index - other.index);
      for (const part of inbox.limit(found)) {
        if (part.index < next) continue;
        next = part.index + 1;
        yield part;
        if (isAborted()) return;
      }
      await remote.note(next - 1);
      if (inbox.hasParts) continue;
      const state = pulled?.state;
      if (state !== undefined && OVER.has(state)) {
        yield {
          index: Math.max(0, (pulled?.nextIndex ?? 0) - 1),
          type: "ended",
          status: state as "finished",
        };
        return;
      }
      if (state !== undefined && until.includes(state)) return;
      if (!isStale) await keepAlive(woken.promise);
    }
  } catch (error) {
    // The runtime was closed, and its store with it.
    if (!isAborted()) throw error;
  } finally {
    signal?.removeEventListener("abort", wake);
    await stopListening();
    // What cannot be deleted now expires.
    await remote.end().catch(() => undefined);
  }
}

/** The end of a task deletes its parts. @throws TOOL_STREAM_LOST */
function assertStored(runId: string, dropped: NumberedPart, parts: readonly NumberedPart[]): void {
  const isStored = parts.some(
    ({ index, response }) => index >= dropped.index && response === dropped.response,
  );
  if (isStored) return;
  throw new ToolwrightError(
    "TOOL_STREAM_LOST",
    `A reader of run "${runId}" was too slow: parts that it had not read are no longer stored.`,
    { details: { runId } },
  );
}

/** A program that only reads must not end while it waits: the timers of the store do not keep it running. */
async function keepAlive(waiting: Promise<void>): Promise<void> {
  const timer = setInterval(() => undefined, RENEW_MS);
  try {
    await waiting;
  } finally {
    clearInterval(timer);
  }
}

/** Whether a process writes the parts of the run already. */
function* isWritten(runId: string): Transaction<boolean> {
  const run = yield* readRunRow(runId);
  return run?.state === "running" && (yield* nextIndexOf(runId)) !== undefined;
}

/** From now on the parts of the run are written. Responses that were committed before get their indexes. */
function* startReading(runId: string): Transaction<void> {
  const run = yield* readRunRow(runId);
  const isOver = run !== undefined && OVER.has(run.state);
  // While a process writes, it gives the indexes.
  if (run !== undefined && !(yield* isWritten(runId))) {
    yield* numberCommitted(runId);
    yield* numberMissingResults(runId);
  }
  if (!isOver) yield* wantStream(runId);
}

function* pull(runId: string, from: number): Transaction<Pulled> {
  const run = yield* readRunRow(runId);
  const texts = yield* readParts(runId, from);
  const parts = texts.flatMap((json) => JSON.parse(json) as NumberedPart[]);
  return { parts, state: run?.state, nextIndex: (yield* nextIndexOf(runId)) ?? 0 };
}

/** Tells the process that drives the run how far this one has read, so that the end of a task does not cut it off. */
class RemoteReader {
  readonly #store: Store;
  readonly #streams: RunStreams;
  readonly #runId: string;
  readonly #id: string;
  #noted: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store, streams: RunStreams, runId: string) {
    this.#id = `${streams.id}${randomUUID()}`;
    this.#store = store;
    this.#streams = streams;
    this.#runId = runId;
  }

  async note(index: number): Promise<void> {
    if (this.#noted === index || this.#streams.current(this.#runId) !== undefined) return;
    this.#noted = index;
    await this.#write(index);
    this.#timer ??= setInterval(() => {
      if (this.#noted !== undefined) this.#write(this.#noted).catch(() => undefined);
    }, RENEW_MS).unref();
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    const [runId, id, isNoted] = [this.#runId, this.#id, this.#noted !== undefined];
    if (!isNoted) return;
    await this.#store.transaction(function* () {
      yield* forgetReader(runId, id);
      yield* unwantStream(runId);
    }, "normal");
  }

  async #write(index: number): Promise<void> {
    await this.#store.transaction(() => noteReader(this.#runId, this.#id, index, READER_MS), "normal");
  }
}
