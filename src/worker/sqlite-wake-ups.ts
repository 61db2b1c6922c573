/** Wake-ups on a SQLite file: the version of the database changes with each commit of any process. */
import type { Store } from "../store/store.ts";
import { type StoreWatch, watchStore } from "../store/watch-store.ts";
import type { WakeUps } from "./wake-up.ts";

/** Reading the version costs microseconds. */
const POLL_MS = 25;

export class SqliteWakeUps implements WakeUps {
  readonly engine = "sqlite";
  readonly #store: Store;
  #watch: StoreWatch | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  async start(wake: () => void): Promise<void> {
    this.#watch = await watchStore(this.#store, wake, { everyMs: POLL_MS });
  }

  async sweep(): Promise<void> {}

  async stop(): Promise<void> {
    this.#watch?.close();
  }
}
