/** AI SDK: `generateText` with a tool. https://ai-sdk.dev/docs/ai-sdk-core/tools-and-tool-calling */
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";
import type { Contender } from "../comparison/contender.ts";
import { scriptedModel } from "../comparison/scripted-model.ts";

export const contender: Contender = {
  name: "AI SDK",
  packages: ["ai"],
  setup: "`generateText` with a tool. The tool call id serves as idempotency key.",
  async plainAgent(job) {
    const order = tool({
      description: "Orders.",
      inputSchema: z.object({ index: z.number() }),
      execute: ({ index }, { toolCallId }) => job.execute(index, toolCallId),
    });
    job.begin();
    await generateText({
      model: scriptedModel(job),
      tools: { order },
      prompt: "Go.",
      stopWhen: isStepCount(job.turns + 2),
    });
  },
  durableAgent:
    "It stores nothing: the application can save messages in `onStepEnd`. Its `WorkflowAgent` is durable, but needs the " +
    "compiler and the runtime of Workflow DevKit, and is not measured here.",
  steps: "It has no steps outside of its agent loop.",
};
