/**
 * A reader that the store knows. What the end of a task deletes before this reader has read it is kept for it, encrypted with a
 * key that only this object has. Most readers of the process that drives the run need no row: its parts reach them directly.
 */
import { randomUUID } from "node:crypto";
import { ToolwrightError } from "../errors.ts";
import type { Store, Transaction } from "../store/store.ts";
import {
  enterReader,
  leaveReader,
  listsIn,
  readKeptParts,
  renewReader,
  type KeptParts,
  type StreamReader,
} from "../store/tables/stream-readers.ts";
import { PrivateKey } from "../util/private-text.ts";

/** Nothing is kept for a reader whose process does not answer for this long. */
const READER_MS = 60_000;
const RENEW_MS = 3_000;

export class RegisteredReader {
  readonly #store: Store;
  readonly #place: StreamReader;
  readonly #readIndex: () => number;
  #key: PrivateKey | undefined;
  #isEntered = false;
  /** Parts that were deleted before it arrived do not count as lost. */
  #deletedBefore = -1;
  #timer: NodeJS.Timeout | undefined;
  /** The row is written by one statement at a time. */
  #writing: Promise<unknown> = Promise.resolve();

  /** @param readIndex the last part that was read */
  constructor(store: Store, runId: string, readIndex: () => number) {
    this.#store = store;
    this.#place = { runId, readerId: randomUUID() };
    this.#readIndex = readIndex;
  }

  get isEntered(): boolean {
    return this.#isEntered;
  }

  /**
   * From now on nothing is lost.
   * @param deletedIndex of a reader that read before: the last part that it has seen deleted
   * @throws TOOL_STREAM_LOST
   */
  enter(deletedIndex?: number): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isEntered) return this.#renew();
      const deleted = await this.#insert();
      this.#isEntered = true;
      this.#timer = setInterval(
        () => void this.#inTurn(() => this.#renew()).catch(() => undefined),
        RENEW_MS,
      );
      this.#timer.unref();
      this.#deletedBefore = deletedIndex ?? deleted;
      this.#assertRead(deleted);
    });
  }

  /** What is kept for this reader, in a transaction that also reads what is stored. `undefined` without a row. */
  *kept(): Transaction<KeptParts | "forgotten" | undefined> {
    if (!this.#isEntered) return undefined;
    return (yield* readKeptParts(this.#place)) ?? "forgotten";
  }

  /** The lists of parts. @throws TOOL_STREAM_LOST */
  async open(kept: KeptParts | "forgotten" | undefined, deletedIndex: number): Promise<string[]> {
    if (kept === undefined) return [];
    if (kept === "forgotten") {
      // It was silent for too long, and comes back.
      const deleted = await this.#insert();
      this.#assertRead(Math.max(deleted, deletedIndex));
      return [];
    }
    this.#assertRead(kept.lostIndex);
    return kept.sealed.flatMap((sealed) => listsIn(this.#key?.open(sealed) ?? "[]"));
  }

  leave(): Promise<void> {
    return this.#inTurn(async () => {
      clearInterval(this.#timer);
      if (!this.#isEntered) return;
      this.#isEntered = false;
      await this.#store.transaction(() => leaveReader(this.#place), "normal");
    });
  }

  #inTurn(write: () => Promise<void>): Promise<void> {
    const turn = this.#writing.then(write);
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  async #insert(): Promise<number> {
    this.#key ??= new PrivateKey();
    const { publicKey } = this.#key;
    return this.#store.transaction(
      () => enterReader(this.#place, this.#readIndex(), READER_MS, publicKey),
      "normal",
    );
  }

  async #renew(): Promise<void> {
    if (!this.#isEntered) return;
    await this.#store.transaction(() => renewReader(this.#place, this.#readIndex(), READER_MS), "normal");
  }

  #assertRead(deletedIndex: number): void {
    if (deletedIndex <= this.#deletedBefore || deletedIndex <= this.#readIndex()) return;
    throw lostParts(this.#place.runId);
  }
}

export function lostParts(runId: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_STREAM_LOST",
    `A reader of run "${runId}" was too slow: parts that it had not read are no longer stored.`,
    { details: { runId } },
  );
}
