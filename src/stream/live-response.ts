/** A response while it arrives: its parts go to readers immediately, and its end when it is committed. */
import type { Transaction } from "../store/store.ts";
import type { ResponseLocation } from "../store/tables/responses.ts";
import type { RunStream } from "./run-stream.ts";
import type { RunStreams } from "./run-streams.ts";
import { type NumberedPart, type PartOrigin, responseId, type StreamPartDetails } from "./stream-part.ts";

type Write<T> = (also: () => Transaction<void>) => Promise<T>;

export class LiveResponse {
  readonly #origin: PartOrigin;
  readonly #location: ResponseLocation;
  readonly #id: string;
  readonly #streams: RunStreams;
  #stream: RunStream | undefined;
  /** The parts from before the first reader arrived. */
  #unread: StreamPartDetails[] = [];
  /** The parts that readers have received, without retracted parts. */
  #said: NumberedPart[] = [];
  #stopWaiting: (() => void) | undefined;
  #hasParts = false;

  /** @param stream `undefined` if no one reads the run yet */
  constructor(
    streams: RunStreams,
    origin: PartOrigin,
    location: ResponseLocation,
    stream: RunStream | undefined,
  ) {
    this.#streams = streams;
    this.#origin = origin;
    this.#location = location;
    this.#id = responseId(location);
    if (stream !== undefined) this.#attach(stream);
    else this.#stopWaiting = streams.waitForReader(origin.runId, (found) => this.#attach(found));
  }

  /** Whether the run is read. */
  isRead(): boolean {
    return this.#stream !== undefined;
  }

  /** Whether there are parts since the start, or since the last retraction. */
  hasParts(): boolean {
    return this.#hasParts;
  }

  add(part: StreamPartDetails): void {
    if (!this.#hasParts) {
      this.#hasParts = true;
      this.#say({ type: "response-start" });
    }
    this.#say(part);
  }

  /** The response broke off: it is discarded. The next request for the same position uses the same id. */
  discard(): void {
    if (!this.#hasParts) return;
    this.#hasParts = false;
    this.#unread = [];
    if (this.#stream !== undefined) this.#retract(this.#stream);
  }

  /** No more parts come. If the loop was stopped and resumes, the parts are retracted then. */
  abandon(): void {
    this.#stopWaiting?.();
  }

  /** @param end the parts that readers receive only after the commit */
  async commit<T>(end: readonly StreamPartDetails[], write: Write<T>): Promise<T> {
    // A reader may have just started in another process.
    const found = this.#stream ?? (await this.#streams.wanted(this.#origin.runId).catch(() => undefined));
    this.#stopWaiting?.();
    if (this.#stream === undefined && found !== undefined) this.#attach(found);
    if (this.#stream === undefined) {
      const saved = await write(function* () {});
      this.#streams.lookAgain(this.#origin.runId);
      return saved;
    }
    const whole = this.#hasParts ? end : [{ type: "response-start" } as const, ...end];
    return this.#stream.commit(this.#origin, this.#location, () => this.#said, whole, write);
  }

  #say(part: StreamPartDetails): void {
    if (this.#stream === undefined) this.#unread.push(part);
    else this.#stream.publish(this.#origin, this.#id, part, (numbered) => this.#said.push(numbered));
  }

  #attach(stream: RunStream): void {
    this.#stopWaiting?.();
    this.#stream = stream;
    const earlier = stream.retractions.get(this.#id);
    if (earlier !== undefined) this.#said = [earlier];
    if (stream.takeAbandoned(this.#id)) this.#retract(stream);
    stream.retractEarlierAttempts(this.#origin);
    for (const part of this.#unread.splice(0)) this.#say(part);
  }

  #retract(stream: RunStream): void {
    stream.publish(this.#origin, this.#id, { type: "retracted" }, (part) => {
      this.#said = [part];
      stream.retractions.set(this.#id, part);
    });
  }
}
