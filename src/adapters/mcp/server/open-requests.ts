/**
 * Unanswered requests of a session, and the connections that wait for the answers. A client that disconnects may
 * reconnect for the answer; otherwise its request is cancelled.
 */
import type { RequestId, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

/** Longer than the retry interval that is sent to clients, to allow for network delays. */
const GRACE_MS = 3_000;

export class OpenRequests {
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  /** The number of connections that wait for each answer. */
  readonly #waiting = new Map<RequestId, number>();

  constructor(transport: WebStandardStreamableHTTPServerTransport) {
    this.#transport = transport;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Starts tracking requests and answers. The server must be connected. */
  watch(): void {
    const transport = this.#transport;
    const { onmessage } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is not an event target
    transport.onmessage = (message, extra) => {
      if ("method" in message && "id" in message) this.#track(message.id, extra?.request?.signal);
      onmessage?.(message, extra);
    };
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if (!("method" in message) && message.id !== undefined) this.#waiting.delete(message.id);
      return send(message, options);
    };
  }

  /** A client that reconnects waits for all answers without a connection. */
  connect(request: Request): void {
    if (!request.headers.has("last-event-id")) return;
    for (const [id, connections] of this.#waiting) {
      if (connections === 0) this.#track(id, request.signal);
    }
  }

  #track(id: RequestId, signal: AbortSignal | undefined): void {
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
      params: { requestId: id, reason: "The client disconnected." },
    });
  }
}
