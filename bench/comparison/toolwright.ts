/** Toolwright on its two stores: its smart agent as the loop, and a program of calls as the steps. */
import { generateText, isStepCount } from "ai";
import { join } from "node:path";
import { createRuntime, createSmartAgent, defineTool, type Runtime } from "toolwright";
import { z } from "zod";
import type { AgentJob, Contender, StorageLocation, StepsJob } from "./contender.ts";
import { scriptedModel } from "./scripted-model.ts";

const schema = z.object({ index: z.number() });

/** The strictest kind of tool: a side effect that must not be repeated. Its intent is flushed to the disk. */
function orderTool(job: AgentJob | StepsJob, isKeyed: boolean) {
  const options = {
    name: "order",
    description: "Orders.",
    schema,
    sideEffect: true,
    idempotent: false,
  } as const;
  // A tool whose `execute` names the key counts as one that passes it on.
  return isKeyed
    ? defineTool({ ...options, execute: ({ index }, ctx) => job.execute(index, ctx.idempotencyKey) })
    : defineTool({ ...options, execute: ({ index }) => job.execute(index) });
}

async function plainAgent(job: AgentJob): Promise<void> {
  job.begin();
  await generateText({
    model: scriptedModel(job),
    tools: { order: orderTool(job, job.isKeyed) },
    prompt: "Go.",
    stopWhen: isStepCount(job.turns + 2),
  });
}

async function durableAgent(job: AgentJob, store: string): Promise<void> {
  await using runtime = createRuntime({ store });
  const tools = [orderTool(job, job.isKeyed)];
  const agent = createSmartAgent({ model: scriptedModel(job), tools, runtime, summarization: false });
  await runtime.ready();
  job.begin();
  const { runId } = job;
  let result = await agent.invoke(
    job.isResume ? { runId } : { runId, messages: [{ role: "user", content: "Go." }] },
  );
  while (result.status === "waiting") {
    await answerAsOperator(runtime, job);
    result = await agent.invoke({ runId });
  }
}

/** A call that was interrupted, without a key to repeat it safely: an operator looks, and answers. */
async function answerAsOperator(runtime: Runtime, job: AgentJob | StepsJob): Promise<void> {
  for (const { id, args } of await runtime.approvals({ runId: job.runId, status: "pending" })) {
    const { index } = schema.parse(args);
    const hasHappened = await job.ask(index);
    await runtime.resolveToolApproval(
      id,
      hasHappened ? { resolution: "happened", output: { index } } : { resolution: "run-again" },
    );
  }
}

async function steps(job: StepsJob, store: string): Promise<void> {
  await using runtime = createRuntime({ store });
  const order = orderTool(job, true);
  await runtime.ready();
  job.begin();
  await runtime.run({ runId: job.runId }, async () => {
    for (let index = 0; index < job.count; index += 1) await order.execute({ index });
  });
}

function toolwrightOn(
  name: string,
  setup: string,
  storeOf: (location: StorageLocation) => string,
): Contender {
  return {
    name,
    packages: ["toolwright"],
    setup,
    plainAgent,
    durableAgent: (job) => durableAgent(job, storeOf(job.location)),
    steps: (job) => steps(job, storeOf(job.location)),
  };
}

const LOOP =
  "`createSmartAgent` for agents, calls in `runtime.run` as steps; the tool is a side effect that must not be repeated, so the " +
  "intent of each call is flushed to the disk before it runs; " +
  "with nothing stored, its tools run in the loop of the AI SDK";

export const onSqlite = toolwrightOn(
  "Toolwright",
  `\`createRuntime\` on a SQLite file: ${LOOP}. Other commits run with \`synchronous\` NORMAL.`,
  ({ folder }) => join(folder, "toolwright.db"),
);

export const onPostgres = toolwrightOn(
  "Toolwright on PostgreSQL",
  `\`createRuntime\` on PostgreSQL: ${LOOP}.`,
  ({ postgres }) => postgres,
);
