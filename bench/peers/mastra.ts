/**
 * Mastra with LibSQL: a durable agent that keeps checkpoints of running runs, and a workflow.
 * https://mastra.ai/docs/harness/durable-agents and https://mastra.ai/docs/workflows/overview
 */
import { Agent } from "@mastra/core/agent";
import { createDurableAgent } from "@mastra/core/agent/durable";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { LibSQLStore } from "@mastra/libsql";
import { join } from "node:path";
import { z } from "zod";
import type { AgentJob, Contender, StorageLocation, StepsJob } from "../comparison/contender.ts";
import { scriptedModel } from "../comparison/scripted-model.ts";

const shape = z.object({ index: z.number() });

const storeIn = ({ folder }: StorageLocation): LibSQLStore =>
  new LibSQLStore({ id: "bench", url: `file:${join(folder, "mastra.db")}` });

function agentOf(job: AgentJob): Agent {
  const order = createTool({
    id: "order",
    description: "Orders.",
    inputSchema: shape,
    execute: ({ index }, context) => job.execute(index, context.agent?.toolCallId),
  });
  return new Agent({
    id: "bench",
    name: "bench",
    instructions: "Go.",
    model: scriptedModel(job),
    tools: { order },
  });
}

async function durableAgent(job: AgentJob): Promise<void> {
  const agent = createDurableAgent({
    agent: agentOf(job),
    maxSteps: job.turns + 2,
    // Without `running` there is nothing to recover after a crash.
    shouldPersistSnapshot: ({ workflowStatus }) =>
      ["pending", "paused", "suspended", "running"].includes(workflowStatus),
  });
  const mastra = new Mastra({ agents: { agent }, storage: storeIn(job.location), logger: false });
  await mastra.getStorage()?.init();
  job.begin();
  if (job.isResume) {
    const { recovered } = await agent.recoverActiveRuns({ runId: job.runId });
    for (const { error } of recovered) if (error !== undefined) throw error;
    return;
  }
  const { output, cleanup } = await agent.stream("Go.", { runId: job.runId, maxSteps: job.turns + 2 });
  await output.consumeStream();
  cleanup();
}

/** A step that is repeated: 1,000 steps in a row with `then` would store all results again after each of them. */
async function steps(job: StepsJob): Promise<void> {
  const step = createStep({
    id: "order",
    inputSchema: shape,
    outputSchema: shape,
    execute: ({ inputData }) => job.execute(inputData.index + 1),
  });
  const workflow = createWorkflow({ id: "orders", inputSchema: shape, outputSchema: shape })
    .dountil(step, async ({ inputData }) => inputData.index >= job.count - 1)
    .commit();
  const mastra = new Mastra({ workflows: { workflow }, storage: storeIn(job.location), logger: false });
  await mastra.getStorage()?.init();
  job.begin();
  const run = await mastra.getWorkflow("workflow").createRun({ runId: job.runId });
  await (job.isResume ? run.restart() : run.start({ inputData: { index: -1 } }));
}

export const contender: Contender = {
  name: "Mastra",
  packages: ["@mastra/core", "@mastra/libsql"],
  setup:
    "`createDurableAgent` with checkpoints of running runs and `recoverActiveRuns` for agents; as steps, a workflow that " +
    "repeats one step with `dountil`, where each result replaces the one before, and `restart`. Both use `LibSQLStore`, with " +
    "`synchronous` FULL. An interrupted call runs again, as its docs say: the tool call id serves as idempotency key. Since " +
    "version 1.62, agents do not recover after a crash, a fault that is known as " +
    "[#22636](https://github.com/mastra-ai/mastra/issues/22636); version 1.61 repeats the interrupted call and finishes.",
  async plainAgent(job) {
    const agent = agentOf(job);
    job.begin();
    await agent.generate("Go.", { maxSteps: job.turns + 2 });
  },
  durableAgent,
  steps,
};
