/**
 * Server-sent events: each stream begins with a `snapshot`, then `patch` events hold what changed. Streams of one topic
 * share its state. A client that reads slowly gets a new snapshot instead of a queue of patches; one that does not read
 * at all is dropped.
 */
import { HttpError, toErrorAnswer } from "./http-error.ts";
import { escapeUnsafeInJson } from "../util/storable-text.ts";
import { NOT_STORED } from "./security-headers.ts";

/** The topic of a stream: the list of runs, or one run. */
export interface Topic<State = unknown> {
  /** Equal for equal topics. */
  readonly key: string;
  read(): Promise<State>;
  /** `undefined` if nothing changed. */
  diff(before: State, after: State): object | undefined;
}

export interface EventStreamsOptions {
  /** Equal as long as nothing was committed. */
  readonly version: () => Promise<string>;
  /** A stream that takes nothing for this long is dropped. Default: 20,000. */
  readonly stallMs?: number | undefined;
}

const MOST_STREAMS = 50;
const POLL_MS = 75;
/** Some changes are not commits: an owner dies, a request expires. */
const READ_EVERY_MS = 2_000;
const KEEP_ALIVE_MS = 10_000;
const STALL_MS = 20_000;
const QUEUE_BYTES = 262_144;

interface Stream {
  send(text: string): void;
  /** Whether the client has read most of the sent data. */
  isReady(): boolean;
  drop(): void;
  end(): void;
  /** The client missed a patch: the next event must be a snapshot. */
  isBehind: boolean;
  lastReadyMs: number;
  lastSentMs: number;
}

interface Room {
  readonly topic: Topic;
  readonly streams: Set<Stream>;
  state: unknown;
  /** When the state was read: an older read that ends later does not replace it. */
  readAt: number;
  /** The text of the last problem, so that it is sent once. */
  problem: string | undefined;
}

export class EventStreams {
  readonly #version: () => Promise<string>;
  readonly #stallMs: number;
  readonly #rooms = new Map<string, Room>();
  #count = 0;
  #reads = 0;
  #loop: Promise<void> | undefined;
  #isClosed = false;

  constructor({ version, stallMs = STALL_MS }: EventStreamsOptions) {
    this.#version = version;
    this.#stallMs = stallMs;
  }

  /** @throws HttpError 503, and errors of the first read */
  async open(topic: Topic): Promise<Response> {
    if (this.#isClosed || this.#count >= MOST_STREAMS) {
      throw new HttpError(
        "HTTP_TOO_MANY_STREAMS",
        `All ${MOST_STREAMS} event streams are in use.`,
        "Close another page or client, then try again.",
        { "retry-after": "5" },
      );
    }
    this.#count += 1;
    const readAt = (this.#reads += 1);
    let state: unknown;
    try {
      state = await topic.read();
    } catch (error) {
      this.#count -= 1;
      throw error;
    }
    return new Response(this.#createStream(topic, state, readAt), {
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        // For nginx, which buffers responses of its upstream.
        "x-accel-buffering": "no",
        ...NOT_STORED,
      },
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { streams } of this.#rooms.values()) for (const stream of streams) stream.end();
    this.#rooms.clear();
    await this.#loop;
  }

  #createStream(topic: Topic, state: unknown, readAt: number): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    let stream: Stream | undefined;
    const leave = (): void => {
      if (stream !== undefined) this.#leave(topic, stream);
      stream = undefined;
    };
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const now = performance.now();
          const opened: Stream = {
            send: (text) => controller.enqueue(encoder.encode(text)),
            isReady: () => (controller.desiredSize ?? 0) > 0,
            drop: () => {
              leave();
              controller.error(new Error("the client reads too slowly"));
            },
            end: () => {
              leave();
              controller.close();
            },
            isBehind: false,
            lastReadyMs: now,
            lastSentMs: now,
          };
          stream = opened;
          this.#join(topic, state, readAt, opened);
        },
        cancel: leave,
      },
      { highWaterMark: QUEUE_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
    );
  }

  /** All streams of a room have the same state, so that one patch serves all of them. */
  #join(topic: Topic, state: unknown, readAt: number, stream: Stream): void {
    const existing = this.#rooms.get(topic.key);
    if (existing !== undefined) publish(existing, state, readAt);
    const room = existing ?? { topic, streams: new Set(), state, readAt, problem: undefined };
    stream.send(`retry: 1000\n${toEvent("snapshot", room.state)}`);
    room.streams.add(stream);
    this.#rooms.set(topic.key, room);
    this.#loop ??= this.#run();
  }

  #leave({ key }: Topic, stream: Stream): void {
    const room = this.#rooms.get(key);
    this.#count -= 1;
    room?.streams.delete(stream);
    if (room?.streams.size === 0) this.#rooms.delete(key);
  }

  /** Runs while there are streams. */
  async #run(): Promise<void> {
    let version: string | undefined;
    let readAtMs = 0;
    while (this.#rooms.size > 0 && !this.#isClosed) {
      const started = performance.now();
      const current = await this.#version().catch(() => undefined);
      const isDue = started - readAtMs >= READ_EVERY_MS;
      const isNew = current === undefined || current !== version;
      if (isNew || isDue || this.#hasStreamBehind()) {
        version = current;
        readAtMs = started;
        await Promise.all([...this.#rooms.values()].map((room) => this.#refresh(room)));
      }
      this.#keepAlive();
      // A slow store must not be read all the time.
      await pause(Math.max(POLL_MS, performance.now() - started));
    }
    // At once, not in a later callback: a stream that opens now needs a new loop.
    this.#loop = undefined;
  }

  #hasStreamBehind(): boolean {
    return [...this.#rooms.values()].some(({ streams }) =>
      [...streams].some((stream) => stream.isBehind && stream.isReady()),
    );
  }

  async #refresh(room: Room): Promise<void> {
    const readAt = (this.#reads += 1);
    try {
      publish(room, await room.topic.read(), readAt);
    } catch (error) {
      this.#report(room, error);
    }
  }

  /** A store that fails may come back, so its streams stay open. A run that is gone does not come back. */
  #report(room: Room, error: unknown): void {
    const { status, body } = toErrorAnswer(error);
    const text = toEvent("problem", body);
    if (room.problem !== text) for (const stream of room.streams) send(stream, text);
    room.problem = text;
    if (status === 404) for (const stream of room.streams) stream.end();
  }

  #keepAlive(): void {
    const now = performance.now();
    for (const { streams } of this.#rooms.values()) {
      for (const stream of streams) {
        if (stream.isReady()) stream.lastReadyMs = now;
        if (now - stream.lastReadyMs > this.#stallMs) stream.drop();
        else if (stream.isReady() && now - stream.lastSentMs > KEEP_ALIVE_MS)
          send(stream, ": keep-alive\n\n");
      }
    }
  }
}

function publish(room: Room, state: unknown, readAt: number): void {
  if (readAt < room.readAt) return;
  const wasBroken = room.problem !== undefined;
  const patch = room.topic.diff(room.state, state);
  room.state = state;
  room.readAt = readAt;
  room.problem = undefined;
  const text = patch === undefined ? undefined : toEvent("patch", patch);
  for (const stream of room.streams) {
    if (!stream.isReady()) stream.isBehind ||= text !== undefined || wasBroken;
    else if (stream.isBehind || wasBroken) sendSnapshot(stream, state);
    else if (text !== undefined) send(stream, text);
  }
}

function sendSnapshot(stream: Stream, state: unknown): void {
  stream.isBehind = false;
  send(stream, toEvent("snapshot", state));
}

function send(stream: Stream, text: string): void {
  stream.lastSentMs = performance.now();
  stream.send(text);
}

/** JSON has no line breaks, so the data is one line. */
function toEvent(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${escapeUnsafeInJson(JSON.stringify(data))}\n\n`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
