/** Chunks as server-sent events. The index of a part is the id of its event, so that a client can continue after it. */
import type { UIMessageChunk } from "ai";
import type { IndexedChunk } from "./ui-chunks.ts";

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-vercel-ai-ui-message-stream": "v1",
  "x-accel-buffering": "no",
};
const KEEP_ALIVE_MS = 15_000;

/** @param onCancel the client has gone: nothing else ends */
export function sseResponse(
  chunks: AsyncIterator<IndexedChunk, void, void>,
  onCancel: () => void = () => undefined,
): Response {
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | undefined;
  let hasLeft = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // Keeps proxies from closing a silent connection, and tells the client that the answer has begun.
      controller.enqueue(encoder.encode(": open\n\n"));
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": keep-alive\n\n"));
      }, KEEP_ALIVE_MS).unref();
    },
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (hasLeft) return;
        if (done !== true) return controller.enqueue(encoder.encode(eventOf(value)));
        controller.enqueue(encoder.encode("data: [DONE]\n\n"));
        clearInterval(timer);
        controller.close();
      } catch (error) {
        clearInterval(timer);
        controller.error(error);
      }
    },
    async cancel() {
      hasLeft = true;
      clearInterval(timer);
      onCancel();
      await chunks.return?.();
    },
  });
  return new Response(body, { headers: HEADERS });
}

function eventOf({ index, chunk }: IndexedChunk): string {
  const id = index === undefined ? "" : `id: ${index}\n`;
  return `${id}data: ${JSON.stringify(chunk)}\n\n`;
}

/** An answer that is known completely. */
export async function* storedAnswerChunks(
  messageId: string,
  chunks: readonly UIMessageChunk[],
): AsyncGenerator<IndexedChunk, void, void> {
  yield { chunk: { type: "start", messageId } };
  for (const chunk of chunks) yield { chunk };
  yield { chunk: { type: "finish" } };
}
