/**
 * A store that opens when it is first used, so that making a runtime is not asynchronous and costs nothing. Every loop of
 * the package goes through it, so this is also where they let the event loop turn.
 */
import { ToolwrightError } from "../errors.ts";
import { EventLoopTurns } from "../util/event-loop-turns.ts";
import type { CommitLevel, Store, Transaction } from "./store.ts";

export class LazyStore implements Store {
  readonly dialect: "sqlite" | "postgres";
  readonly #open: () => Promise<Store>;
  #opening: Promise<Store> | undefined;
  #store: Store | undefined;
  readonly #turns = new EventLoopTurns();

  constructor(dialect: "sqlite" | "postgres", open: () => Promise<Store>) {
    this.dialect = dialect;
    this.#open = open;
  }

  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  get secret(): string {
    if (this.#store === undefined)
      throw new ToolwrightError("TOOL_STORE_FAILED", "The store is not open yet.");
    return this.#store.secret;
  }

  async opened(): Promise<Store> {
    this.#opening ??= this.#open();
    try {
      this.#store = await this.#opening;
      return this.#store;
    } catch (error) {
      // The next use tries again: a database that was down may be back.
      this.#opening = undefined;
      throw error;
    }
  }

  transaction<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T> {
    // Every call comes by here twice, so the usual case makes no function and no promise of its own.
    const store = this.#store;
    const turn = store === undefined ? this.opened() : this.#turns.nextIfDue();
    if (store !== undefined && turn === undefined) return store.transaction(work, level);
    return this.#after(turn, (opened) => opened.transaction(work, level));
  }

  /** Does not take turns with others: it must not wait. */
  commitAtOnce<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T> {
    return this.#store?.commitAtOnce?.(work, level) ?? this.transaction(work, level);
  }

  read<T>(work: () => Transaction<T>): Promise<T> {
    const store = this.#store;
    const turn = store === undefined ? this.opened() : this.#turns.nextIfDue();
    if (store !== undefined && turn === undefined) return store.read(work);
    return this.#after(turn, (opened) => opened.read(work));
  }

  async #after<T>(turn: Promise<unknown> | undefined, work: (store: Store) => Promise<T>): Promise<T> {
    await turn;
    return work(await this.opened());
  }

  async close(): Promise<void> {
    await (await this.#opening)?.close();
  }
}
