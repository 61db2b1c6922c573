/**
 * The runtime behind the routes. A server keeps answering when its store is damaged, of a newer version, or gone: each
 * request reports that, and the first one after the repair works again.
 */
import { ToolwrightError } from "../errors.ts";
import { createRuntime } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { openForOperators, type OperatedStore } from "../operate/open-for-operators.ts";
import { stateOfStore, type StoreOption, withoutPassword } from "../operate/store-address.ts";

export interface BackendOptions {
  readonly store?: StoreOption | undefined;
  readonly runtime?: Runtime | undefined;
  readonly readOnly?: boolean | undefined;
}

/** The store is for functions of `src/operate`: the server never reads it itself. */
export interface Opened extends OperatedStore {
  readonly runtime: Runtime;
}

const READ_TIMEOUT_MS = 5_000;

export class Backend {
  readonly #given: Runtime | undefined;
  readonly #store: StoreOption | undefined;
  readonly #openRuntime: () => Runtime;
  #own: Runtime | undefined;
  /**
   * Whether a missing file may be created: once, if it was missing at the start. A deleted store must not be recreated
   * empty.
   */
  #mayCreate: boolean;
  #isClosed = false;

  constructor(
    { store, runtime, readOnly = false }: BackendOptions,
    openRuntime: () => Runtime = () => createRuntime({ store }),
  ) {
    this.#openRuntime = openRuntime;
    this.#given = runtime;
    this.#store = store;
    this.#mayCreate = !readOnly && typeof store === "string" && stateOfStore(store) === "missing";
  }

  /** @throws TOOL_STORE_FAILED, TOOL_STORE_VERSION, TOOL_STORE_DAMAGED */
  async use<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
    const runtime = this.#given ?? this.#open();
    let opened: OperatedStore;
    try {
      opened = await openForOperators(runtime);
    } catch (error) {
      this.#reopenNext(runtime);
      throw error;
    }
    this.#mayCreate = false;
    return work({ runtime, ...opened });
  }

  /**
   * The same for reads, which give up sooner: a database that restarts is waited for, but a page must not hang. A write
   * waits, because an answer that comes before its end cannot say whether it happened.
   */
  async read<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(
        new ToolwrightError("TOOL_STORE_FAILED", `The store did not answer within ${READ_TIMEOUT_MS} ms.`, {
          hint: "Check that the database is running and not locked. The server tries again with every request.",
        }),
      );
    }, READ_TIMEOUT_MS);
    try {
      return await Promise.race([this.use(work), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#own?.close();
  }

  #open(): Runtime {
    if (this.#isClosed) throw new ToolwrightError("TOOL_RUNTIME_CLOSED", "This server was closed.");
    if (this.#own !== undefined) return this.#own;
    if (typeof this.#store === "string") this.#assertStore(this.#store);
    this.#own = this.#openRuntime();
    return this.#own;
  }

  /** Opening a file would create a store in it. */
  #assertStore(store: string): void {
    const state = stateOfStore(store);
    if (state === "missing" && !this.#mayCreate) {
      throw new ToolwrightError("TOOL_STORE_FAILED", `There is no store ${withoutPassword(store)}.`, {
        hint: "Put the file back, or start the server with another store.",
      });
    }
    if (state === "foreign") {
      throw new ToolwrightError(
        "TOOL_STORE_FAILED",
        `${store} is a database of another program, not a store.`,
        {
          hint: "Start the server with the address of a store. Nothing in the database was changed.",
        },
      );
    }
  }

  /** The store cannot be opened, or its file was deleted or replaced. The next request opens the file that exists then. */
  #reopenNext(runtime: Runtime): void {
    if (this.#own !== runtime || typeof this.#store !== "string") return;
    this.#own = undefined;
    // It can no longer write. Runs that it drives end with the same error.
    runtime.close().catch(() => undefined);
  }
}
