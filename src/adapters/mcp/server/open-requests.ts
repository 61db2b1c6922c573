/**
 * Requests of a session that have no answer yet, and the connections on which it is awaited. A client that hangs up may
 * come back for the answer; if it does not, what it asked for is cancelled.
 */
import type { RequestId, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

/** A client that resumes does so within the interval that it was given, and some time for the network. */
const GRACE_MS = 3_000;

export class OpenRequests {
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  /** How many connections wait for each answer. */
  readonly #waiting = new Map<RequestId, number>();

  constructor(transport: WebStandardStreamableHTTPServerTransport) {
    this.#transport = transport;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** From now on requests and answers are noticed. The server must be connected. */
  watch(): void {
    const transport = this.#transport;
    const { onmessage } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no event target
    transport.onmessage = (message, extra) => {
      if ("method" in message && "id" in message) this.#begin(message.id, extra?.request?.signal);
      onmessage?.(message, extra);
    };
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if (!("method" in message) && message.id !== undefined) this.#waiting.delete(message.id);
      return send(message, options);
    };
  }

  /** A client that connects again waits for everything that no other connection waits for. */
  connect(request: Request): void {
    if (!request.headers.has("last-event-id")) return;
    for (const [id, connections] of this.#waiting) {
      if (connections === 0) this.#begin(id, request.signal);
    }
  }

  #begin(id: RequestId, signal: AbortSignal | undefined): void {
    this.#waiting.set(id, (this.#waiting.get(id) ?? 0) + 1);
    signal?.addEventListener("abort", () => this.#leave(id), { once: true });
  }

  #leave(id: RequestId): void {
    const connections = this.#waiting.get(id);
    if (connections === undefined) return;
    this.#waiting.set(id, connections - 1);
    setTimeout(() => this.#cancelAbandoned(id), GRACE_MS).unref();
  }

  #cancelAbandoned(id: RequestId): void {
    if (this.#waiting.get(id) !== 0) return;
    this.#waiting.delete(id);
    this.#transport.onmessage?.({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: id, reason: "The client is gone." },
    });
  }
}
