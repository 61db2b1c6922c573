/** OpenAI Agents: `run` with a function tool. https://openai.github.io/openai-agents-js/guides/tools */
import { Agent, type Model, run, setTracingDisabled, tool, Usage } from "@openai/agents";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { AgentJob, Contender } from "../comparison/contender.ts";

setTracingDisabled(true);

function scriptedModel(job: AgentJob): Model {
  return {
    async getResponse({ input }) {
      const calls = job.next(() =>
        typeof input === "string" ? 0 : input.filter(({ type }) => type === "function_call_result").length,
      );
      const output = calls.map(({ id, name, input: args }) => ({
        type: "function_call" as const,
        id: `item-${id}`,
        callId: id,
        name,
        status: "completed" as const,
        arguments: JSON.stringify(args),
      }));
      const message = {
        type: "message" as const,
        id: randomUUID(),
        role: "assistant" as const,
        status: "completed" as const,
        content: [{ type: "output_text" as const, text: "Done." }],
      };
      return { usage: new Usage(), output: output.length === 0 ? [message] : output };
    },
    getStreamedResponse() {
      throw new Error("not streamed");
    },
  };
}

export const contender: Contender = {
  name: "OpenAI Agents",
  packages: ["@openai/agents"],
  setup: "`run` with a function tool, tracing disabled. The call id serves as idempotency key.",
  async plainAgent(job) {
    const order = tool({
      name: "order",
      description: "Orders.",
      parameters: z.object({ index: z.number() }),
      execute: ({ index }, _context, details) => job.execute(index, details?.toolCall?.callId),
    });
    const agent = new Agent({
      name: "bench",
      instructions: "Go.",
      model: scriptedModel(job),
      tools: [order],
    });
    job.begin();
    await run(agent, "Go.", { maxTurns: job.turns + 2 });
  },
  durableAgent:
    "A session is written when a run ends, and `RunState` is for runs that pause: no call is stored while a run is active.",
  steps: "It has no steps outside of its agent loop.",
};
