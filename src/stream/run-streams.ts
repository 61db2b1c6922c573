/**
 * The streams of a runtime: which runs are read, here or in other processes. A run that is not read costs two look-ups for each
 * request to a model, and one more every 250 ms until the response is committed and once after that.
 */
import type { Store } from "../store/store.ts";
import { nextIndexOf } from "../store/tables/streams.ts";
import { type StoreWatch, watchStore } from "../store/watch-store.ts";
import { RunStream } from "./run-stream.ts";
import type { NumberedPart } from "./stream-part.ts";

const LOOK_MS = 250;

type PartListener = (part: NumberedPart) => void;

/** A reader of this runtime. */
export interface StreamListener {
  /** Called with parts that this runtime writes, as they are written. */
  readonly onPart?: PartListener | undefined;
  /** Called after commits of any process. */
  readonly onChange: () => void;
  /** Called before parts are deleted that the reader might not have. They are deleted when the promise resolves. */
  readonly beforeDeletion?: (() => Promise<void>) | undefined;
}

export class RunStreams {
  readonly #store: Store;
  readonly #opening = new Map<string, Promise<RunStream>>();
  readonly #open = new Map<string, RunStream>();
  readonly #listeners = new Map<string, Set<StreamListener>>();
  /** Responses in flight of runs that no one reads: called when a reader arrives. */
  readonly #unread = new Map<string, Set<(stream: RunStream) => void>>();
  /** Runs that no one read when a response was committed. */
  readonly #committed = new Set<string>();
  /** Runs of this runtime that have asked a model: a reader may have arrived since. */
  readonly #asked = new Set<string>();
  #watch: Promise<StoreWatch> | undefined;
  #isLooking = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The stream that this runtime writes now. */
  current(runId: string): RunStream | undefined {
    return this.#open.get(runId);
  }

  /** The stream to write to, or `undefined` if no one reads the run. */
  async wanted(runId: string): Promise<RunStream | undefined> {
    this.#asked.add(runId);
    const open = this.#open.get(runId) ?? this.#opening.get(runId);
    if (open !== undefined) return open;
    return (await this.#isRead(runId)) ? this.#start(runId) : undefined;
  }

  async #isRead(runId: string): Promise<boolean> {
    return this.#listeners.has(runId) || (await this.#store.read(() => nextIndexOf(runId))) !== undefined;
  }

  /** @param onWanted called once, when the first reader arrives */
  waitForReader(runId: string, onWanted: (stream: RunStream) => void): () => void {
    const waiting = this.#unread.get(runId) ?? new Set();
    waiting.add(onWanted);
    this.#unread.set(runId, waiting);
    this.#look();
    return () => {
      waiting.delete(onWanted);
      if (waiting.size === 0 && this.#unread.get(runId) === waiting) this.#unread.delete(runId);
    };
  }

  /** A response was committed that no one read. A reader that arrived meanwhile must not wait for the next request. */
  lookAgain(runId: string): void {
    this.#committed.add(runId);
    this.#look();
  }

  async listen(runId: string, listener: StreamListener): Promise<() => Promise<void>> {
    const listeners = this.#listeners.get(runId) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(runId, listeners);
    const leave = async (): Promise<void> => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(runId) === listeners) this.#listeners.delete(runId);
      if (this.#listeners.size > 0) return;
      const watch = this.#watch;
      this.#watch = undefined;
      (await watch)?.close();
    };
    const watching = (this.#watch ??= watchStore(this.#store, () => this.#wakeAll()));
    try {
      await watching;
    } catch (error) {
      // The store did not answer. The next reader tries again.
      if (this.#watch === watching) this.#watch = undefined;
      await leave();
      throw error;
    }
    if (this.#unread.has(runId)) await this.#announce(runId);
    return leave;
  }

  #listenersOf(runId: string): StreamListener[] {
    return [...(this.#listeners.get(runId) ?? [])];
  }

  /** Readers look again: the state of a run has changed here. */
  #wakeAll(): void {
    const listeners = [...this.#listeners.values()].flatMap((ofRun) => [...ofRun]);
    for (const { onChange } of listeners) onChange();
  }

  /** The last task of the run in this runtime is about to end. */
  async leave(runId: string): Promise<void> {
    const opening = this.#opening.get(runId);
    const isAsked = this.#asked.delete(runId);
    this.#opening.delete(runId);
    this.#open.delete(runId);
    try {
      // A reader that arrived after the last request receives the results of its calls.
      const stream = await (opening ?? (isAsked ? this.#openLate(runId) : undefined));
      await stream?.close();
    } catch {
      // A stream is a cache: its errors must not fail the run.
    }
  }

  /**
   * The end of a task, or of a call with an agent inside, is about to delete parts. The transaction that does so keeps for each
   * reader what it has not read, so everything must be stored by then.
   */
  async beforeDeletion(runId: string): Promise<void> {
    try {
      if (this.#asked.has(runId)) await (await this.wanted(runId))?.flush();
      await Promise.all(this.#listenersOf(runId).map(async (one) => one.beforeDeletion?.()));
    } catch {
      // A stream is a cache: its errors must not fail the run.
    }
  }

  /** After the end of the task is committed. */
  left(): void {
    this.#wakeAll();
  }

  #start(runId: string): Promise<RunStream> {
    const known = this.#opening.get(runId);
    if (known !== undefined) return known;
    const opening = this.#openNew(runId);
    this.#opening.set(runId, opening);
    void this.#note(runId, opening);
    return opening;
  }

  #openNew(runId: string): Promise<RunStream> {
    const deliver: PartListener = (part) => {
      for (const { onPart } of this.#listenersOf(runId)) onPart?.(part);
    };
    return RunStream.open(runId, this.#store, deliver);
  }

  async #openLate(runId: string): Promise<RunStream | undefined> {
    return (await this.#isRead(runId)) ? this.#openNew(runId) : undefined;
  }

  async #note(runId: string, opening: Promise<RunStream>): Promise<void> {
    try {
      const stream = await opening;
      if (this.#opening.get(runId) !== opening) return;
      this.#open.set(runId, stream);
      this.#hand(runId, stream);
    } catch {
      // The callers that asked for the stream get the error. The next caller tries again.
      this.#opening.delete(runId);
    }
  }

  async #announce(runId: string): Promise<void> {
    const stream = await this.wanted(runId).catch(() => undefined);
    if (stream !== undefined) this.#hand(runId, stream);
  }

  #hand(runId: string, stream: RunStream): void {
    const waiting = this.#unread.get(runId);
    if (waiting === undefined) return;
    this.#unread.delete(runId);
    for (const onWanted of waiting) onWanted(stream);
  }

  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    setTimeout(() => void this.#lookOnce(), LOOK_MS).unref();
  }

  async #lookOnce(): Promise<void> {
    const committed = [...this.#committed].filter((runId) => this.#asked.has(runId));
    this.#committed.clear();
    const runIds = new Set([...this.#unread.keys(), ...committed]);
    await Promise.all([...runIds].map((runId) => this.#announce(runId)));
    this.#isLooking = false;
    if (this.#unread.size + this.#committed.size > 0) this.#look();
  }
}
