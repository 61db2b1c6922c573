/** The scripted model for every loop that takes an AI SDK model. */
import type { AgentJob } from "./contender.ts";

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

interface Prompt {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
}

export function scriptedModel(job: AgentJob) {
  return {
    specificationVersion: "v4" as const,
    provider: "bench",
    modelId: "bench",
    supportedUrls: {},
    doGenerate: async (options: Prompt) => answer(job, options),
    doStream: async (options: Prompt) => ({ stream: ReadableStream.from(partsOf(answer(job, options))) }),
  };
}

function answer(job: AgentJob, { prompt }: Prompt) {
  const calls = job.next(() => countResults(prompt));
  const isDone = calls.length === 0;
  return {
    content: isDone
      ? [{ type: "text" as const, text: "Done." }]
      : calls.map(({ id, name, input }) => ({
          type: "tool-call" as const,
          toolCallId: id,
          toolName: name,
          input: JSON.stringify(input),
        })),
    finishReason: { unified: isDone ? ("stop" as const) : ("tool-calls" as const), raw: undefined },
    usage: USAGE,
    warnings: [],
  };
}

function countResults(prompt: Prompt["prompt"]): number {
  return prompt.reduce(
    (sum, { role, content }) => sum + (role === "tool" && Array.isArray(content) ? content.length : 0),
    0,
  );
}

function* partsOf({ content, finishReason, usage }: ReturnType<typeof answer>) {
  yield { type: "stream-start" as const, warnings: [] };
  for (const part of content) {
    if (part.type === "tool-call") {
      yield part;
      continue;
    }
    yield { type: "text-start" as const, id: "t" };
    yield { type: "text-delta" as const, id: "t", delta: part.text };
    yield { type: "text-end" as const, id: "t" };
  }
  yield { type: "finish" as const, finishReason, usage };
}
