/** An AI SDK model whose streams are driven by the test, part by part. */
import { MockLanguageModelV4 } from "ai/test";

type StreamOf<T> = T extends ReadableStream<infer P> ? P : never;
export type ModelPart = StreamOf<Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"]>;

export const USAGE = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
};

/** One request to the model. */
export interface LiveRequest {
  readonly prompt: unknown;
  send(...parts: ModelPart[]): void;
  /** A text in pieces, without the end of the response. */
  say(...pieces: string[]): void;
  call(toolName: string, input: object, toolCallId?: string): void;
  finish(reason?: "stop" | "tool-calls"): void;
  /** Ends the stream before the response is complete. */
  breakOff(error?: Error): void;
}

export interface LiveModel {
  readonly model: MockLanguageModelV4;
  /** Resolves with the next request that the model receives. */
  next(): Promise<LiveRequest>;
  readonly requests: number;
}

export function createLiveModel(): LiveModel {
  const arrived: LiveRequest[] = [];
  const awaited: ((request: LiveRequest) => void)[] = [];
  let requests = 0;
  const model = new MockLanguageModelV4({
    doStream: async ({ prompt, abortSignal }) => {
      requests += 1;
      let controller: ReadableStreamDefaultController<ModelPart> | undefined;
      const stream = new ReadableStream<ModelPart>({
        start: (given) => {
          controller = given;
        },
      });
      abortSignal?.addEventListener("abort", () => controller?.error(abortSignal.reason));
      const request = requestOf(prompt, controller as never, requests);
      const waiting = awaited.shift();
      if (waiting === undefined) arrived.push(request);
      else waiting(request);
      return { stream };
    },
  });
  return {
    model,
    next: () =>
      new Promise((resolve) => {
        const request = arrived.shift();
        if (request === undefined) awaited.push(resolve);
        else resolve(request);
      }),
    get requests() {
      return requests;
    },
  };
}

function requestOf(
  prompt: unknown,
  controller: ReadableStreamDefaultController<ModelPart>,
  number: number,
): LiveRequest {
  const send = (...parts: ModelPart[]): void => parts.forEach((part) => controller.enqueue(part));
  return {
    prompt,
    send,
    say: (...pieces) => {
      send({ type: "text-start", id: "t" });
      for (const delta of pieces) send({ type: "text-delta", id: "t", delta });
    },
    call: (toolName, input, toolCallId = `call-${number}`) => {
      const json = JSON.stringify(input);
      send(
        { type: "tool-input-start", id: toolCallId, toolName },
        { type: "tool-input-delta", id: toolCallId, delta: json },
        { type: "tool-input-end", id: toolCallId },
        { type: "tool-call", toolCallId, toolName, input: json },
      );
    },
    finish: (reason = "stop") => {
      send({ type: "finish", finishReason: { unified: reason, raw: reason }, usage: USAGE });
      controller.close();
    },
    breakOff: (error) => (error === undefined ? controller.close() : controller.error(error)),
  };
}
