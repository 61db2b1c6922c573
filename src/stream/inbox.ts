/**
 * The parts that arrived for a reader and that it has not taken yet. A reader that is too slow loses them, and reads them from
 * the store later: what waits in memory is bounded, and the run never waits.
 */
import { type NumberedPart, sizeOf } from "./stream-part.ts";

/** In characters. About 10,000 pieces of text. */
export const INBOX_SIZE = 2 ** 20;

export class Inbox {
  readonly #most: number;
  #parts: NumberedPart[] = [];
  #size = 0;
  /** The last part that was dropped. Later ones are dropped too, until the reader has read from the store. */
  #dropped: NumberedPart | undefined;

  constructor(most = INBOX_SIZE) {
    this.#most = most;
  }

  add(part: NumberedPart): void {
    this.#size += sizeOf(part);
    if (this.#dropped !== undefined || this.#size > this.#most) this.drop(part);
    else this.#parts.push(part);
  }

  /** Everything up to this part must be read from the store. */
  drop(part: NumberedPart): void {
    this.#dropped = part;
    this.#parts = [];
  }

  /** Whether there is something to take, here or in the store. */
  get hasParts(): boolean {
    return this.#parts.length > 0 || this.#dropped !== undefined;
  }

  get hasDropped(): boolean {
    return this.#dropped !== undefined;
  }

  /** Parts that arrive from now on are kept again. Returns the last one that was dropped. */
  reopen(): NumberedPart | undefined {
    const dropped = this.#dropped;
    if (dropped !== undefined) this.#size = 0;
    this.#dropped = undefined;
    return dropped;
  }

  /** In the order in which they arrived. */
  take(): NumberedPart[] {
    const parts = this.#parts;
    this.#parts = [];
    if (this.#dropped === undefined) this.#size = 0;
    return parts;
  }

  /** As many of the parts as may wait in memory, at least one. The others count as dropped. */
  limit(parts: readonly NumberedPart[]): readonly NumberedPart[] {
    let size = 0;
    const end = parts.findIndex((part, index) => (size += sizeOf(part)) > this.#most && index > 0);
    const last = parts.at(-1);
    if (end === -1 || last === undefined) return parts;
    this.drop(last);
    return parts.slice(0, end);
  }
}
