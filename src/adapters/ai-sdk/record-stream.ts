/**
 * Passes a streamed response on while it is recorded. Text, reasoning and tool input pass immediately. Calls and the end
 * are held until the response is committed, so that it has no effect before. A broken stream is never committed.
 */
import { BrokenResponse } from "../../model/broken-response.ts";

type Part = Readonly<Record<string, unknown>>;

export interface StreamRecorder {
  /** A part was passed on. */
  onPart(part: Part): void;
  /** Commits the parts in the order in which the reader receives them, and returns them as a replay would. */
  save(parts: readonly unknown[], passed: number): Promise<readonly unknown[]>;
  /** The stream broke, or its reader left: nothing was committed. */
  onBroken(error: unknown): void;
}

/** @param adapt changes each part before anything else sees it */
export function recordStream(
  source: ReadableStream<unknown>,
  adapt: (part: unknown) => unknown,
  recorder: StreamRecorder,
): ReadableStream<unknown> {
  const reader = source.getReader();
  let isCancelled = false;
  const pump = async (controller: ReadableStreamDefaultController<unknown>): Promise<void> => {
    const passed: unknown[] = [];
    const held: unknown[] = [];
    let isComplete = false;
    const fail = (error: unknown): void => {
      recorder.onBroken(error);
      if (isCancelled) return;
      // Providers report a broken stream as a part, and the AI SDK's loops expect one.
      controller.enqueue({ type: "error", error });
      controller.close();
      void leave(reader, error);
    };
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const part = adapt(value) as Part;
        if (part.type === "error") return fail(part["error"]);
        isComplete ||= part.type === "finish";
        if (!passes(part)) held.push(part);
        else if (!isCancelled) {
          // Chunks of the provider repeat the response, in pieces in which no redaction would find a value.
          if (part.type !== "raw") passed.push(part);
          recorder.onPart(part);
          controller.enqueue(part);
        }
      }
    } catch (error) {
      recorder.onBroken(error);
      if (!isCancelled) controller.error(error);
      return;
    }
    if (!isComplete || isCancelled) return fail(new BrokenResponse());
    try {
      const saved = await recorder.save([...passed, ...held], passed.length);
      for (const part of saved.slice(passed.length)) controller.enqueue(part);
      controller.close();
    } catch (error) {
      controller.error(error);
    }
  };
  return new ReadableStream({
    // Not by `pull`: a reader that is slow must not delay the commit.
    start: (controller) => void pump(controller),
    cancel: (reason) => {
      isCancelled = true;
      return reader.cancel(reason);
    },
  });
}

const PASSING =
  /^(stream-start|response-metadata|raw|source|file|reasoning-file|custom)$|^(text|reasoning|tool-input)-/;

/** Calls that the provider ran itself have happened: they keep their position between the texts around them, and so do results. */
function passes(part: Part): boolean {
  const { type } = part;
  if (type === "tool-call") return part["providerExecuted"] === true;
  // A model sends results of such calls only. From version 3 on, they do not say so themselves.
  if (type === "tool-result") return true;
  return typeof type === "string" && PASSING.test(type);
}

async function leave(reader: ReadableStreamDefaultReader<unknown>, reason: unknown): Promise<void> {
  try {
    await reader.cancel(reason);
  } catch {
    // The stream has failed already.
  }
}
