/**
 * How a worker gives a run back. On request, no further task or call of the run begins, and the run is released when its
 * calls in flight have ended and every running task waits to make its next call. Calls inside a call still run: the
 * outer one needs them to end.
 */
export class RunRelease {
  readonly #over = new AbortController();
  readonly #requested = new AbortController();
  readonly #held = new Set<object>();
  #inFlight = 0;
  #tasks = 0;

  /** Aborted when the run is released: what is still running must stop. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get isRequested(): boolean {
    return this.#requested.signal.aborted;
  }

  /** Aborted as soon as the run is to be given back: a call that waits must not begin. */
  get requested(): AbortSignal {
    return this.#requested.signal;
  }

  /** Gives the run back between two calls. */
  request(): void {
    this.#requested.abort();
    this.#check();
  }

  /** Gives the run back immediately: its time is up, or it may belong to another worker already. */
  now(reason: Error): void {
    this.#requested.abort();
    this.#over.abort(reason);
  }

  /** How many tasks are running. */
  setTasks(count: number): void {
    this.#tasks = count;
    this.#check();
  }

  /** A call begins. Returns a function that ends it. */
  enter(): () => void {
    this.#inFlight += 1;
    return () => {
      this.#inFlight -= 1;
      this.#check();
    };
  }

  /** A call of this task must not begin. Resolves when the run is released. */
  async hold(task: object): Promise<void> {
    this.#held.add(task);
    this.#check();
    const { signal } = this;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #check(): void {
    if (!this.isRequested || this.#inFlight > 0 || this.#held.size < this.#tasks || this.#tasks === 0) return;
    this.#over.abort(new Released());
  }
}

/** The run was given back: by a worker between two calls, or by a server that closes. An abort with this reason cancels nothing. */
export class Released extends Error {
  constructor() {
    super("the process has given the run back");
  }
}
