/** Counts a soak's events so far, and collects its failures. */

export interface Fault {
  /** `twice`, `lost`, `stuck`, `unexpected`, `wrong-row`, `open-approval`, `failed`, `crashed`. */
  readonly kind: string;
  readonly store: string;
  /** The order or the run that it is about. */
  readonly about: string;
  readonly message: string;
  /** The rows and entries that show it. */
  readonly evidence?: unknown;
}

export class Tally {
  readonly startedAt = performance.now();
  readonly counts: Record<string, number> = {};
  readonly faults: Fault[] = [];
  /** What happened, in order: the last part of it is in the report of a failure. */
  readonly #trace: string[] = [];

  count(name: string, by = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + by;
  }

  get kills(): number {
    return this.counts["kills"] ?? 0;
  }

  /** Changes when a job does something. */
  get progress(): number {
    const { orders = 0, decisions = 0, "jobs done": done = 0 } = this.counts;
    return orders + decisions + done;
  }

  get seconds(): number {
    return (performance.now() - this.startedAt) / 1_000;
  }

  trace(line: string): void {
    this.#trace.push(`${this.seconds.toFixed(3)} ${line}`);
    // A long soak must not fill the memory.
    if (this.#trace.length > 200_000) this.#trace.splice(0, 100_000);
  }

  fail(fault: Fault): void {
    this.trace(`FAULT ${fault.kind} ${fault.about}`);
    this.faults.push(fault);
  }

  /** The lines about a run, with the faults of its database. */
  linesAbout(store: string, text: string): string[] {
    return this.#trace
      .filter((line) => line.includes(text) || line.includes(` ${store} database `))
      .slice(-200);
  }
}
