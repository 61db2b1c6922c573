/**
 * The messages that the streams of one session have sent, so that a client that reconnects receives the rest. It is
 * in memory and bounded; results that must survive longer are in the log, under their idempotency key.
 */
import { randomUUID } from "node:crypto";
import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

const MAX_EVENTS = 1_000;
const MAX_CHARS = 16_000_000;

interface StoredEvent {
  readonly id: string;
  readonly streamId: string;
  readonly message: JSONRPCMessage;
  readonly chars: number;
}

export function createEventStore(): EventStore {
  const events: StoredEvent[] = [];
  let chars = 0;
  return {
    storeEvent: (streamId, message) => {
      const event = { id: randomUUID(), streamId, message, chars: JSON.stringify(message).length };
      events.push(event);
      chars += event.chars;
      while (events.length > 1 && (events.length > MAX_EVENTS || chars > MAX_CHARS)) {
        chars -= events.shift()?.chars ?? 0;
      }
      return Promise.resolve(event.id);
    },
    getStreamIdForEventId: (id) => Promise.resolve(events.find((event) => event.id === id)?.streamId),
    replayEventsAfter: async (id, { send }) => {
      const index = events.findIndex((event) => event.id === id);
      const streamId = events[index]?.streamId ?? "";
      const missed = events.slice(index + 1).filter((event) => event.streamId === streamId);
      for (const event of missed) {
        // The event that opens a stream has no message.
        if ("jsonrpc" in event.message) await send(event.id, event.message);
      }
      return streamId;
    },
  };
}
