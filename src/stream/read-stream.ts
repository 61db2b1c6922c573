/**
 * Reads the parts of a run, live, in any process. Parts that this runtime writes arrive immediately; parts of other
 * processes are read from the store after each commit. A reader that is slow delays only itself: what it has not taken is
 * dropped here, and read from the store when it continues.
 */
import type { Store, Transaction } from "../store/store.ts";
import type { RunState } from "../store/run-words.ts";
import { readRunRow } from "../store/tables/runs.ts";
import type { KeptParts } from "../store/tables/stream-readers.ts";
import { nextIndexOf, readParts, streamOf, wantStream } from "../store/tables/streams.ts";
import { assertNotDeleted } from "../store/tables/tombstones.ts";
import { Inbox } from "./inbox.ts";
import { numberCommitted, numberMissingResults } from "./number-committed.ts";
import { lostParts, RegisteredReader } from "./registered-reader.ts";
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
const KEEP_ALIVE_MS = 60_000;

interface Pulled {
  readonly parts: NumberedPart[];
  readonly state: RunState | undefined;
  readonly nextIndex: number;
  readonly deletedIndex: number;
}

interface Stored extends Omit<Pulled, "parts"> {
  readonly lists: readonly string[];
  readonly kept: KeptParts | "forgotten" | undefined;
}

/** A run that does not exist yet is waited for. Ends quietly when the signal fires. */
export async function* readStream(
  store: Store,
  streams: RunStreams,
  runId: string,
  { from = 0, signal, until = [], onReady }: StreamReadOptions = {},
): AsyncGenerator<StreamPart, void, void> {
  const inbox = new Inbox();
  let next = from;
  let isStale = true;
  let deletedIndex: number | undefined;
  /** Whether there are parts that this reader can get only from the store. */
  let needsStore = true;
  let woken = Promise.withResolvers<void>();
  const wake = (): void => woken.resolve();
  const reader = new RegisteredReader(store, runId, () => next - 1);
  const stopListening = await streams.listen(runId, {
    onPart: (part) => {
      inbox.add(part);
      needsStore ||= inbox.hasDropped;
      wake();
    },
    onChange: () => {
      isStale = true;
      wake();
    },
    beforeDeletion: () => (needsStore ? reader.enter() : reader.leave()),
  });
  signal?.addEventListener("abort", wake, { once: true });
  const isAborted = (): boolean => signal?.aborted === true;
  try {
    const isRead = await store.read(() => isWritten(runId));
    if (!isRead) await store.transaction(() => startReading(runId), "normal");
    if (streams.current(runId) === undefined) await reader.enter();
    onReady?.();
    while (!isAborted()) {
      woken = Promise.withResolvers<void>();
      let pulled: Pulled | undefined;
      const dropped = inbox.reopen();
      if (isStale || dropped !== undefined) {
        isStale = false;
        // Parts that a local reader has not received yet are already in its inbox, so the store holds no later part.
        await streams.current(runId)?.flush();
        pulled = await pull(store, runId, next, reader);
        deletedIndex = pulled.deletedIndex;
        if (dropped !== undefined && dropped.index >= next) assertStored(runId, dropped, pulled.parts);
      }
      const found = [...inbox.take(), ...(pulled?.parts ?? [])]
        .filter(({ index }) => index >= next)
        .sort((one, other) => one.index - other.index);
      const taken = inbox.limit(found);
      if (pulled !== undefined) needsStore = inbox.hasDropped;
      for (const part of taken) {
        if (part.index < next) continue;
        next = part.index + 1;
        yield part;
        if (isAborted()) return;
      }
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
      if (streams.current(runId) === undefined && !reader.isEntered) {
        // This runtime no longer drives the run.
        await reader.enter(deletedIndex);
        isStale = true;
      }
      if (!isStale) await keepAlive(woken.promise);
    }
  } catch (error) {
    // The runtime was closed, and its store with it.
    if (!isAborted()) throw error;
  } finally {
    signal?.removeEventListener("abort", wake);
    await stopListening();
    // What cannot be deleted now expires.
    await reader.leave().catch(() => undefined);
  }
}

/** The end of a task has deleted parts that were too many to keep. @throws TOOL_STREAM_LOST */
function assertStored(runId: string, dropped: NumberedPart, parts: readonly NumberedPart[]): void {
  const isStored = parts.some(
    ({ index, response }) => index >= dropped.index && response === dropped.response,
  );
  if (!isStored) throw lostParts(runId);
}

/** A program that only reads must not end while it waits: the timers of the store do not keep it running. */
async function keepAlive(waiting: Promise<void>): Promise<void> {
  const timer = setInterval(() => undefined, KEEP_ALIVE_MS);
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

/**
 * From now on the parts of the run are written. Responses that were committed before get their indexes.
 * @throws TOOL_RUN_DELETED
 */
function* startReading(runId: string): Transaction<void> {
  yield* assertNotDeleted(runId);
  const run = yield* readRunRow(runId);
  const isOver = run !== undefined && OVER.has(run.state);
  // While a process writes, it gives the indexes.
  if (run !== undefined && !(yield* isWritten(runId))) {
    yield* numberCommitted(runId);
    yield* numberMissingResults(runId);
  }
  if (!isOver) yield* wantStream(runId);
}

/** @throws TOOL_STREAM_LOST */
async function pull(store: Store, runId: string, from: number, reader: RegisteredReader): Promise<Pulled> {
  const { lists, kept, ...stream } = await store.read(() => readStored(runId, from, reader));
  const opened = await reader.open(kept, stream.deletedIndex);
  // What was kept comes first: a recorded run still stores the same parts, redacted and joined.
  return { ...stream, parts: [...opened, ...lists].flatMap((json) => JSON.parse(json) as NumberedPart[]) };
}

function* readStored(runId: string, from: number, reader: RegisteredReader): Transaction<Stored> {
  const run = yield* readRunRow(runId);
  const lists = yield* readParts(runId, from);
  const kept = yield* reader.kept();
  const { nextIndex = 0, deletedIndex = -1 } = (yield* streamOf(runId)) ?? {};
  return { lists, kept, deletedIndex, state: run?.state, nextIndex };
}
