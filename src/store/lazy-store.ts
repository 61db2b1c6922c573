/** A store that opens when it is first used, so that making a runtime is not asynchronous and costs nothing. */
import { ToolwrightError } from "../errors.ts";
import type { CommitLevel, Store, Transaction } from "./store.ts";

export class LazyStore implements Store {
  readonly dialect: "sqlite" | "postgres";
  readonly #open: () => Promise<Store>;
  #opening: Promise<Store> | undefined;
  #store: Store | undefined;

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
    return (
      this.#store?.transaction(work, level) ?? this.opened().then((store) => store.transaction(work, level))
    );
  }

  commitNow(): void {
    this.#store?.commitNow?.();
  }

  read<T>(work: () => Transaction<T>): Promise<T> {
    return this.#store?.read(work) ?? this.opened().then((store) => store.read(work));
  }

  async close(): Promise<void> {
    await (await this.#opening)?.close();
  }
}
