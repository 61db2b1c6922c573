/**
 * LangGraph with its SQLite saver: an agent of `createAgent`, and a program of tasks in an `entrypoint`.
 * https://docs.langchain.com/oss/javascript/langgraph/durable-execution
 */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import type { ToolRunnableConfig } from "@langchain/core/tools";
import { type BaseCheckpointSaver, entrypoint, task } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import type { AgentJob, Contender } from "../comparison/contender.ts";
import { hasNativeModule, openSaver } from "./sqlite-saver.ts";

class ScriptedModel extends BaseChatModel {
  private readonly job: AgentJob;

  constructor(job: AgentJob) {
    super({});
    this.job = job;
  }

  override _llmType(): string {
    return "bench";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const calls = this.job.next(() => messages.filter((message) => message.type === "tool").length);
    const message = new AIMessage({
      content: calls.length === 0 ? "Done." : "",
      tool_calls: calls.map(({ id, name, input: args }) => ({ type: "tool_call" as const, id, name, args })),
    });
    return { generations: [{ text: "", message }] };
  }
}

async function runAgent(job: AgentJob, checkpointer: BaseCheckpointSaver | undefined): Promise<void> {
  const order = tool(
    ({ index }: { index: number }, config: ToolRunnableConfig) => job.execute(index, config.toolCall?.id),
    { name: "order", description: "Orders.", schema: z.object({ index: z.number() }) },
  );
  const agent = createAgent({
    model: new ScriptedModel(job),
    tools: [order],
    ...(checkpointer === undefined ? {} : { checkpointer }),
  });
  job.begin();
  await agent.invoke(job.isResume && checkpointer !== undefined ? null : { messages: ["Go."] }, {
    configurable: { thread_id: job.runId },
    recursionLimit: job.turns * 2 + 10,
    // A checkpoint is stored before the next step starts.
    ...(checkpointer === undefined ? {} : { durability: "sync" as const }),
  });
}

export const contender: Contender = {
  name: "LangGraph",
  packages: ["@langchain/langgraph", "langchain", "@langchain/langgraph-checkpoint-sqlite"],
  setup:
    '`createAgent` for agents, `task` in an `entrypoint` as steps, with `SqliteSaver` and `durability: "sync"`' +
    (hasNativeModule() ? "" : ", on SQLite of Node, because better-sqlite3 does not load on this machine") +
    ". SQLite runs with `synchronous` NORMAL, as better-sqlite3 is built. An interrupted call runs again, as its docs say: the " +
    "tool call id, which is in the checkpoint, serves as idempotency key.",
  plainAgent: (job) => runAgent(job, undefined),
  durableAgent: (job) => runAgent(job, openSaver(job.location.folder)),
  async steps(job) {
    const order = task("order", (index: number) => job.execute(index));
    const program = entrypoint(
      { name: "orders", checkpointer: openSaver(job.location.folder) },
      async (count: number) => {
        for (let index = 0; index < count; index += 1) await order(index);
      },
    );
    job.begin();
    await program.invoke(job.isResume ? null : job.count, {
      configurable: { thread_id: job.runId },
      durability: "sync",
    });
  },
};
