/** Cognipeer: `createSmartAgent` without summaries. https://cognipeer.github.io/agent-sdk/ */
import { createSmartAgent, createTool } from "@cognipeer/agent-sdk";
import { z } from "zod-3";
import type { AgentJob, Contender } from "../comparison/contender.ts";

interface Message {
  readonly role: string;
}

function scriptedModel(job: AgentJob) {
  const model = {
    bindTools: () => model,
    async invoke(messages: readonly Message[]) {
      const calls = job.next(() => messages.filter(({ role }) => role === "tool").length);
      if (calls.length === 0) return { role: "assistant", content: "Done." };
      return {
        role: "assistant",
        content: "",
        tool_calls: calls.map(({ id, name, input }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(input) },
        })),
      };
    },
  };
  return model;
}

export const contender: Contender = {
  name: "Cognipeer",
  packages: ["@cognipeer/agent-sdk"],
  setup: "`createSmartAgent` with `summarization: false`. Its tools receive no key.",
  async plainAgent(job) {
    const order = createTool({
      name: "order",
      description: "Orders.",
      schema: z.object({ index: z.number() }),
      func: ({ index }: { index: number }) => job.execute(index),
      maxExecutionsPerRun: null,
    });
    const agent = createSmartAgent({
      model: scriptedModel(job),
      tools: [order],
      limits: { maxToolCalls: Number.MAX_SAFE_INTEGER, maxParallelTools: 64 },
      summarization: false,
    });
    job.begin();
    await agent.invoke({ messages: [{ role: "user", content: "Go." }], toolHistory: [] });
  },
  durableAgent:
    "It stores nothing: the application can save a snapshot in `onStateChange`, which is called between model and tools.",
  steps: "It has no steps outside of its agent loop.",
};
