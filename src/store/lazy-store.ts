/**
 * A store that opens on first use, so that creating a runtime is synchronous and cheap. Every loop of the package uses it, so
 * it also yields to the event loop.
 */
import { ToolwrightError } from "../errors.ts";
import { EventLoopTurns } from "../util/event-loop-turns.ts";
import type { CommitLevel, Store, Transaction } from "./store.ts";

/** Returns a function to call after the next transaction, with how long it took. */
type WatchCommits = () => ((ms: number) => void) | undefined;

interface LazyStoreOptions {
  readonly watchCommits?: WatchCommits | undefined;
  /** Every commit survives a power loss, even if its caller needs less. */
  readonly isAlwaysFull?: boolean | undefined;
}

export class LazyStore implements Store {
  readonly dialect: "sqlite" | "postgres";
  readonly #open: () => Promise<Store>;
  #opening: Promise<Store> | undefined;
  #store: Store | undefined;
  readonly #turns = new EventLoopTurns();
  readonly #watchCommits: WatchCommits | undefined;
  readonly #isAlwaysFull: boolean;

  constructor(
    dialect: "sqlite" | "postgres",
    open: () => Promise<Store>,
    { watchCommits, isAlwaysFull = false }: LazyStoreOptions = {},
  ) {
    this.dialect = dialect;
    this.#open = open;
    this.#watchCommits = watchCommits;
    this.#isAlwaysFull = isAlwaysFull;
  }

  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  get secret(): string {
    if (this.#store === undefined)
      throw new ToolwrightError("TOOL_STORE_FAILED", "The store is not open yet.");
    return this.#store.secret;
  }

  get connectionString(): string | undefined {
    return this.#store?.connectionString;
  }

  async opened(): Promise<Store> {
    this.#opening ??= this.#open();
    try {
      this.#store = await this.#opening;
      return this.#store;
    } catch (error) {
      // The next use retries: a database that was down may be back.
      this.#opening = undefined;
      throw error;
    }
  }

  transaction<T>(work: () => Transaction<T>, needed: CommitLevel, isAlone = false): Promise<T> {
    const level = this.#isAlwaysFull ? "full" : needed;
    // Every call passes here twice, so the usual case creates no closure and no promise.
    const store = this.#store;
    const turn = store === undefined ? this.opened() : this.#turns.nextIfDue();
    const onCommit = this.#watchCommits?.();
    if (onCommit !== undefined)
      return this.#measured(turn, (opened) => opened.transaction(work, level, isAlone), onCommit);
    if (store !== undefined && turn === undefined) return store.transaction(work, level, isAlone);
    return this.#after(turn, (opened) => opened.transaction(work, level, isAlone));
  }

  async #measured<T>(
    turn: Promise<unknown> | undefined,
    commit: (store: Store) => Promise<T>,
    onCommit: (ms: number) => void,
  ): Promise<T> {
    if (turn !== undefined) await turn;
    const store = this.#store ?? (await this.opened());
    const startedMs = performance.now();
    const result = await commit(store);
    onCommit(performance.now() - startedMs);
    return result;
  }

  /** Does not yield to the event loop: it must not wait. */
  commitAtOnce<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T> {
    return (
      this.#store?.commitAtOnce?.(work, this.#isAlwaysFull ? "full" : level) ?? this.transaction(work, level)
    );
  }

  read<T>(work: () => Transaction<T>): Promise<T> {
    const store = this.#store;
    const turn = store === undefined ? this.opened() : this.#turns.nextIfDue();
    if (store !== undefined && turn === undefined) return store.read(work);
    return this.#after(turn, (opened) => opened.read(work));
  }

  async version(): Promise<string> {
    const store = await this.opened();
    // Without versions, every look may find a change.
    return (await store.version?.()) ?? String(performance.now());
  }

  limitIdle(ms: number): void {
    this.#store?.limitIdle?.(ms);
  }

  assertInPlace(): void {
    this.#store?.assertInPlace?.();
  }

  async #after<T>(turn: Promise<unknown> | undefined, work: (store: Store) => Promise<T>): Promise<T> {
    await turn;
    return work(await this.opened());
  }

  async close(): Promise<void> {
    await (await this.#opening)?.close();
  }
}
