/**
 * A scripted model, so that the chat runs offline. For a real one, install an AI SDK provider and return its model:
 *
 *   import { anthropic } from "@ai-sdk/anthropic";
 *   export const createChatModel = () => anthropic("claude-sonnet-5-5");
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createScriptedModel, type ScriptedModel, type ScriptedTurn } from "toolwright/testing";

const HELP = `I am a script. Write "Order 2 apples", and I order them. Write "Order 50 pears", and you have to approve it.
While I write this, reload the page, open it in a second tab, or stop the server and start it again: the answer continues,
and no order is placed twice.`;

const answer: ScriptedTurn = ({ text, toolResults }) => {
  if (toolResults.length > 0)
    return `Done: ${toolResults.map(({ output }) => JSON.stringify(output)).join(", ")}`;
  const [, quantity, item] = /order (\d+) (\w+?)s?\b/i.exec(text) ?? [];
  if (item === undefined) return HELP;
  return {
    text: "I order it.",
    toolCalls: [{ toolName: "place_order", input: { item, quantity: Number(quantity) } }],
  };
};

export function createChatModel(pauseMs = 60): ScriptedModel {
  const model = createScriptedModel([answer], { atEnd: "repeat-last" });
  return {
    ...model,
    // Word by word, as a real model writes.
    doStream: async (options) => {
      const { stream } = await model.doStream(options);
      const inWords = new TransformStream<StreamPart, StreamPart>({
        async transform(part, controller) {
          if (part.type !== "text-delta") return controller.enqueue(part);
          for (const delta of part.delta.match(/\S+\s*/g) ?? []) {
            await sleep(
              pauseMs,
              undefined,
              options.abortSignal === undefined ? {} : { signal: options.abortSignal },
            );
            controller.enqueue({ ...part, delta });
          }
        },
      });
      return { stream: stream.pipeThrough(inWords) };
    },
  };
}

type PartOf<Stream> = Stream extends ReadableStream<infer Part> ? Part : never;
type StreamPart = PartOf<Awaited<ReturnType<ScriptedModel["doStream"]>>["stream"]>;
