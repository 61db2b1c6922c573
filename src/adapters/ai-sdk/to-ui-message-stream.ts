/** The parts of a run as the AI SDK's message stream, for `createUIMessageStreamResponse` and `readUIMessageStream`. */
import type { UIMessageChunk } from "ai";
import { anInteger, aSignal } from "../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../definition/option-table.ts";
import type { Runtime, StreamOptions } from "../../runtime/runtime.ts";
import { answerId, readChunks } from "./chat/read-chunks.ts";

export const UI_MESSAGE_STREAM_OPTIONS: OptionTable = optionTable<StreamOptions>("toUIMessageStream", {
  from: anInteger(0),
  signal: aSignal,
});

/**
 * Live in any process. Ends with the run, and when the run waits for approval. Cancelling the stream does not stop the run.
 *
 * @example
 * return createUIMessageStreamResponse({ stream: toUIMessageStream(runtime, "order-17") });
 */
export function toUIMessageStream(
  runtime: Runtime,
  runId: string,
  options: StreamOptions = {},
): ReadableStream<UIMessageChunk> {
  checkOptions(UI_MESSAGE_STREAM_OPTIONS, options);
  const leaving = new AbortController();
  const signal =
    options.signal === undefined ? leaving.signal : AbortSignal.any([options.signal, leaving.signal]);
  const chunks = readChunks(runtime, runId, { ...options, signal });
  let isStarted = false;
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) return controller.close();
      if (!isStarted) {
        isStarted = true;
        controller.enqueue({ type: "start", messageId: answerId(runId, value.turn ?? 1) });
      }
      controller.enqueue(value.chunk);
    },
    async cancel() {
      leaving.abort();
      await chunks.return();
    },
  });
}
