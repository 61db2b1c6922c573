/** A chat handler behind a real HTTP server, and the AI SDK's own client for it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import type { ChatHandler } from "toolwright/ai-sdk";
import { toNodeListener } from "toolwright/server";
import { onTestFinished } from "vitest";

export async function listen(handler: ChatHandler): Promise<string> {
  const server = createServer(toNodeListener(handler));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`;
}

export function userMessage(text: string, id = "u1"): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

/** The AI SDK's client, without React. */
export function createClient(api: string, chatId = "c", headers: Record<string, string> = {}) {
  const transport = new DefaultChatTransport({ api, headers });
  return {
    send: (messages: UIMessage[], more: { signal?: AbortSignal; regenerate?: string } = {}) =>
      transport.sendMessages({
        chatId,
        messages,
        trigger: more.regenerate === undefined ? "submit-message" : "regenerate-message",
        messageId: more.regenerate,
        abortSignal: more.signal,
      }),
    reconnect: () => transport.reconnectToStream({ chatId }),
    stop: () => fetch(`${api}/${chatId}/stream`, { method: "DELETE", headers }),
    get: (query = "") => fetch(`${api}/${chatId}/stream${query}`, { headers }),
  };
}

/** The message that a client shows in the end. @param shown the message that it continues */
export async function messageOf(
  stream: ReadableStream<UIMessageChunk> | null,
  shown?: UIMessage,
): Promise<UIMessage> {
  if (stream === null) throw new Error("there is no stream");
  let last: UIMessage | undefined;
  const message = shown === undefined ? {} : { message: structuredClone(shown) };
  for await (const state of readUIMessageStream({ stream, terminateOnError: true, ...message })) last = state;
  if (last === undefined) throw new Error("the stream has no message");
  return last;
}

export function textOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
