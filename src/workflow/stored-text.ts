/** Tracks the stored version of a text that several transactions write. They may end in any order. */

/** One write, for `committed`. */
export interface WrittenText {
  readonly text: string;
  readonly order: number;
}

export class StoredText {
  /** `undefined`: not known, so the next write stores the text again. */
  #stored: string | undefined;
  #written = 0;
  #committed = 0;

  constructor(stored: string) {
    this.#stored = stored;
  }

  holds(text: string): boolean {
    return this.#stored === text;
  }

  write(text: string): WrittenText {
    this.#written += 1;
    return { text, order: this.#written };
  }

  committed({ text, order }: WrittenText): void {
    // An older text may have replaced a newer one.
    this.#stored = order < this.#committed ? undefined : text;
    this.#committed = Math.max(this.#committed, order);
  }
}
