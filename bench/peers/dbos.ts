/**
 * DBOS on PostgreSQL: a workflow whose steps are `DBOS.runStep`. An agent is the AI SDK's loop in a workflow, with each
 * model request and each tool call as a step, as https://docs.dbos.dev/integrations/vercel-ai shows. The package of that
 * page, `@dbos-inc/vercel-ai` 0.1, accepts DBOS 4 only, so `durableModel` makes the step that its `durableCalls` makes.
 */
import { DBOS } from "@dbos-inc/dbos-sdk";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";
import type { AgentJob, Contender, StepsJob } from "../comparison/contender.ts";
import { scriptedModel } from "../comparison/scripted-model.ts";

/** Identifies the step within its workflow, even when a new process repeats it. */
const stepKey = (): string => `${DBOS.workflowID}-${DBOS.stepID}`;

function durableModel(job: AgentJob) {
  const model = scriptedModel(job);
  return {
    ...model,
    doGenerate: (options: Parameters<typeof model.doGenerate>[0]) =>
      DBOS.runStep(() => model.doGenerate(options), { name: "model" }),
  };
}

/** Workflows are registered before `launch`, and the jobs of a process come after it. */
const current = { work: (): Promise<void> => Promise.reject(new Error("there is no job")) };
const workflow = DBOS.registerWorkflow(() => current.work(), { name: "bench" });

/** Starts a workflow, or waits for the workflow that `launch` has recovered. */
async function runWorkflow(job: AgentJob | StepsJob, work: () => Promise<void>): Promise<void> {
  const { runId, isResume } = job;
  current.work = work;
  if (!DBOS.isInitialized()) {
    DBOS.setConfig({ name: "bench", systemDatabaseUrl: job.location.postgres, logLevel: "error" });
    // Opens the database, and puts interrupted workflows into the recovery queue.
    await DBOS.launch();
  }
  job.begin();
  const handle = isResume
    ? DBOS.retrieveWorkflow(runId)
    : await DBOS.startWorkflow(workflow, { workflowID: runId })();
  await handle.getResult();
}

export const contender: Contender = {
  name: "DBOS",
  packages: ["@dbos-inc/dbos-sdk", "ai"],
  setup:
    "`DBOS.runStep` in a workflow on PostgreSQL; an agent is the loop of the AI SDK in a workflow, with each model " +
    "request and each call as a step. An interrupted step runs again, as its docs say: workflow id and step id serve as " +
    "idempotency key. A resume waits for the recovery queue, which is first polled one second after `DBOS.launch`; no " +
    "setting changes that.",
  plainAgent: "It has no agent loop of its own; with it, the loop of the AI SDK is used.",
  durableAgent: (job) =>
    runWorkflow(job, async () => {
      const order = tool({
        description: "Orders.",
        inputSchema: z.object({ index: z.number() }),
        execute: ({ index }) => DBOS.runStep(() => job.execute(index, stepKey()), { name: "order" }),
      });
      await generateText({
        model: durableModel(job),
        tools: { order },
        prompt: "Go.",
        maxRetries: 0,
        stopWhen: isStepCount(job.turns + 2),
      });
    }),
  steps: (job) =>
    runWorkflow(job, async () => {
      for (let index = 0; index < job.count; index += 1) {
        await DBOS.runStep(() => job.execute(index, stepKey()), { name: "order" });
      }
    }),
};
