/**
 * The parts that this runtime writes for one run. Local readers receive a part immediately. For other processes, parts
 * are stored in batches, in the order of their indexes. A response that is being committed holds back the parts of
 * others, so that indexes rise for every reader.
 */
import type { Store, Transaction } from "../store/store.ts";
import type { ResponseLocation } from "../store/tables/responses.ts";
import {
  commitParts,
  insertParts,
  openResponses,
  readParts,
  reserveIndexes,
  returnIndexes,
} from "../store/tables/streams.ts";
import { numberCommitted, numberMissingResults } from "./number-committed.ts";
import { KnownResults } from "./result-parts.ts";
import {
  type NumberedPart,
  type PartOrigin,
  locationOf,
  partsOfId,
  responseId,
  sizeOf,
  type StreamPartDetails,
} from "./stream-part.ts";

/** Reserved when the stream opens; the rest is given back when it closes. A crash leaves a gap, so that no index repeats. */
const RESERVED = 2 ** 32;
const FLUSH_MS = 100;
const FLUSH_CHARS = 4_000;

interface Pending {
  readonly part: NumberedPart;
  readonly origin: PartOrigin;
  /** `""` for the result of a call, which no commit deletes. */
  readonly group: string;
}

export class RunStream {
  readonly #runId: string;
  readonly #store: Store;
  readonly #deliver: (part: NumberedPart) => void;
  readonly #reserved: number;
  readonly #first: number;
  /** Responses that another process began and did not commit. */
  readonly #abandoned: Set<string>;
  /** Those of them that it retracted itself. */
  readonly #retracted: ReadonlySet<string>;
  readonly #results: KnownResults;
  /** Responses whose parts readers have, and that are neither committed nor retracted. */
  readonly #begun = new Map<string, PartOrigin>();
  /** Responses of attempts that are over. A model that ignores its signal may still send parts. */
  readonly #over = new Set<string>();
  /** The last retraction of each response that is not committed. */
  readonly retractions = new Map<string, NumberedPart>();
  #next: number;
  #buffer: Pending[] = [];
  #chars = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The last write to the store. */
  #writing: Promise<unknown> = Promise.resolve();
  /** What waits for the commit of a response. */
  #held: (() => void)[] | undefined;
  #isClosed = false;

  private constructor(
    runId: string,
    store: Store,
    deliver: (part: NumberedPart) => void,
    loaded: {
      readonly first: number;
      readonly abandoned: readonly string[];
      readonly parts: readonly NumberedPart[];
    },
  ) {
    this.#runId = runId;
    this.#store = store;
    this.#deliver = deliver;
    this.#first = loaded.first;
    this.#next = loaded.first;
    this.#reserved = loaded.first + RESERVED;
    this.#abandoned = new Set(loaded.abandoned);
    this.#retracted = retractedIn(loaded.parts);
    this.#results = new KnownResults(loaded.parts);
  }

  static async open(runId: string, store: Store, deliver: (part: NumberedPart) => void): Promise<RunStream> {
    const loaded = await store.transaction(function* () {
      const found = [...(yield* numberCommitted(runId)), ...(yield* numberMissingResults(runId))];
      const first = yield* reserveIndexes(runId, RESERVED);
      const abandoned = yield* openResponses(runId);
      const texts = yield* readParts(runId, 0);
      return { first, abandoned, found, parts: texts.flatMap((json) => JSON.parse(json) as NumberedPart[]) };
    }, "normal");
    // Before any later part, which a local reader would mistake for the next one.
    for (const part of loaded.found) deliver(part);
    return new RunStream(runId, store, deliver, loaded);
  }

  get nextIndex(): number {
    return this.#next;
  }

  /** Whether readers have parts of an earlier request for this response, of this owner or an earlier one. Asked once. */
  takeAbandoned(response: string): boolean {
    const isBegun = this.#begun.delete(response);
    return this.#abandoned.delete(response) || isBegun;
  }

  /** An attempt that timed out leaves responses that are never requested again. The next attempt retracts them. */
  retractEarlierAttempts(origin: PartOrigin): void {
    for (const [response, begun] of this.#begun)
      if (begun.writer.rootScopeId === origin.writer.rootScopeId && begun.attempt < origin.attempt)
        this.#retractFor({ ...begun, writer: origin.writer }, response);
    for (const response of this.#abandoned) {
      const { scopeId, attempt } = partsOfId(response);
      if (scopeId !== origin.scopeId || attempt >= origin.attempt) continue;
      this.#abandoned.delete(response);
      if (this.#retracted.has(response)) continue;
      this.#retractFor({ ...origin, attempt }, response);
    }
  }

  #retractFor(origin: PartOrigin, response: string): void {
    this.#whenFree(() => {
      // Their attempt may no longer write them, and no other process has them.
      this.#buffer = this.#buffer.filter(({ group }) => group !== response);
      this.publish(origin, response, { type: "retracted" });
      this.#over.add(response);
    });
  }

  /** @returns the part with its index, once it has one */
  publish(
    origin: PartOrigin,
    response: string,
    details: StreamPartDetails,
    onNumbered?: (part: NumberedPart) => void,
  ): void {
    this.#whenFree(() => {
      if (this.#over.has(response)) return;
      if (details.type === "retracted") this.#begun.delete(response);
      else this.#begun.set(response, origin);
      const part = this.#number(origin, response, details);
      onNumbered?.(part);
      this.#add({ part, origin, group: response });
      this.#deliver(part);
    });
  }

  /** The result of a call, or the request that it waits for. Each is published once, however often the loop resumes. */
  publishResult(origin: PartOrigin, toolCallId: string, details: StreamPartDetails): void {
    this.#whenFree(() => {
      const response = this.#results.callerOf(origin, toolCallId) ?? "";
      const part = this.#number(origin, response, details);
      if (!this.#results.take(part)) {
        this.#next -= 1;
        return;
      }
      this.#add({ part, origin, group: "" });
      this.#deliver(part);
    });
  }

  /**
   * Commits a response together with its parts. `end` becomes visible only after the commit.
   * @param write commits the response and the given statements in one transaction
   */
  async commit<T>(
    origin: PartOrigin,
    location: ResponseLocation,
    said: () => readonly NumberedPart[],
    end: readonly StreamPartDetails[],
    write: (also: () => Transaction<void>) => Promise<T>,
  ): Promise<T> {
    const response = responseId(location);
    const turn = this.#writing.then(async () => {
      this.#held = [];
      const held = end.map((details) => this.#number(origin, response, details));
      const taken = this.#take();
      const others = taken.filter(({ group }) => group !== response);
      const parts = [...said(), ...held];
      const json = JSON.stringify(parts);
      const lastIndex = parts.at(-1)?.index ?? 0;
      try {
        const runId = this.#runId;
        const saved = await write(function* () {
          yield* insertAll(runId, others);
          yield* commitParts(runId, response, location, { json, lastIndex });
        });
        this.retractions.delete(response);
        this.#begun.delete(response);
        for (const part of held) this.#deliver(part);
        return saved;
      } catch (error) {
        // Readers have its parts. They must be stored, so that the next request for the response retracts them.
        this.#buffer.unshift(...taken);
        throw error;
      } finally {
        const waiting = this.#held;
        this.#held = undefined;
        for (const go of waiting) go();
      }
    });
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  /** Stores what is buffered, so that a reader finds every part up to now. */
  async flush(): Promise<void> {
    const before = this.#writing;
    // The parts are a cache: a response that is committed later holds them all.
    this.#writing = this.#writeBuffer(before).catch(() => undefined);
    await this.#writing;
  }

  async #writeBuffer(before: Promise<unknown>): Promise<void> {
    await before;
    const pending = this.#take();
    if (pending.length === 0) return;
    await this.#store.transaction(() => insertAll(this.#runId, pending), "normal");
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    clearTimeout(this.#timer);
    // One index more, for the end of the run.
    const next = this.#next === this.#first ? this.#first : this.#next + 1;
    await this.#store.transaction(() => returnIndexes(this.#runId, this.#reserved, next), "normal");
  }

  #number(origin: PartOrigin, response: string, details: StreamPartDetails): NumberedPart {
    const index = this.#next;
    this.#next += 1;
    const part = { ...locationOf(origin, index, response), ...details };
    this.#results.noteCall(part);
    return part;
  }

  #whenFree(go: () => void): void {
    // Drops parts from code that still runs after its task has ended: its indexes are no longer reserved.
    if (this.#isClosed) return;
    if (this.#held === undefined) go();
    else this.#held.push(() => this.#whenFree(go));
  }

  #add(pending: Pending): void {
    this.#buffer.push(pending);
    this.#chars += sizeOf(pending.part);
    if (this.#chars >= FLUSH_CHARS) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  #take(): Pending[] {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#chars = 0;
    return this.#buffer.splice(0);
  }
}

/** Responses of which nothing came after their last retraction. */
function retractedIn(parts: readonly NumberedPart[]): ReadonlySet<string> {
  const last = new Map<string, NumberedPart>();
  for (const part of parts)
    if (part.index > (last.get(part.response)?.index ?? -1)) last.set(part.response, part);
  return new Set([...last].flatMap(([response, { type }]) => (type === "retracted" ? [response] : [])));
}

/** One row for each response, since the commit of a response deletes its parts. */
function* insertAll(runId: string, pending: readonly Pending[]): Transaction<void> {
  const groups = Map.groupBy(pending, ({ group, origin }) => `${origin.scopeId} ${group}`);
  for (const [first, ...more] of groups.values()) {
    if (first === undefined) continue;
    const { origin, group } = first;
    yield* insertParts(
      {
        runId,
        firstIndex: first.part.index,
        lastIndex: more.at(-1)?.part.index ?? first.part.index,
        scopeId: origin.scopeId,
        response: group,
        partsJson: JSON.stringify([first, ...more].map(({ part }) => part)),
      },
      origin.writer,
    );
  }
}
