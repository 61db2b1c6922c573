/** A worker with a workflow, a program, a smart agent and a loop of the Anthropic SDK. */
import { createSmartAgent, createWorker, runAgentLoop } from "../../../src/index.ts";
import type { ProgramJob } from "../../../src/worker/options.ts";
import { createScriptedModel } from "../../../src/testing/model/scripted-model.ts";
import type { Step } from "../plan.ts";
import { answerTo, toPrompt } from "./model.ts";
import { createTools, endFor, openRuntime, place, readInput, reportReady } from "./soak-process.ts";
import { createStepsWorkflow, createWaitingWorkflow } from "./steps-workflow.ts";

const input = readInput();
const runtime = openRuntime(input);
const tools = createTools(input.shopUrl);
const stepsOf = (given: unknown): readonly Step[] => (given as { steps: readonly Step[] }).steps;

async function runProgram({ runId, input: given, signal }: ProgramJob): Promise<void> {
  const steps = stepsOf(given);
  await runtime.run({ runId, signal }, async () => {
    for (const step of steps.slice(0, 2)) await place(tools, step);
    // All of them end before the run does, even if one waits.
    const ends = await Promise.allSettled(steps.slice(2).map((step) => place(tools, step)));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  });
}

async function runLoop({ runId, input: given, signal }: ProgramJob): Promise<void> {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const { status, reason } = await runAgentLoop({
    client: new Anthropic({ baseURL: input.modelUrl, apiKey: "any" }),
    model: "claude-sonnet-5-5",
    messages: [{ role: "user", content: toPrompt(stepsOf(given)) }],
    tools: Object.values(tools),
    runtime,
    runId,
    signal,
  });
  if (status === "failed") throw new Error(`the loop has failed: ${reason}`);
}

const model = createScriptedModel([({ text, turn }) => answerTo(text, turn)], { atEnd: "repeat-last" });
const agent = createSmartAgent({ model, tools: Object.values(tools), runtime, planning: { mode: "off" } });
const named = <T>(name: string, value: T): Record<string, T> => ({ [`${name}${input.suffix}`]: value });
const worker = createWorker({
  runtime,
  workflows: {
    ...named("workflow", createStepsWorkflow(`workflow${input.suffix}`, tools)),
    ...named("waiting-workflow", createWaitingWorkflow(`waiting-workflow${input.suffix}`, tools)),
  },
  // The runs of scripts are listed as "program" too. They have no name of their own, so workers must leave them alone.
  programs: named("program", runProgram),
  agents: { ...named("smart-agent", agent), ...named("agent-loop", runLoop) },
  leaseMs: input.leaseMs,
  drainMs: 5_000,
});
try {
  await worker.start();
} catch (error) {
  endFor(error);
}
process.once("SIGTERM", () => {
  void worker
    .drain()
    .then(() => runtime.close())
    .then(() => process.exit(0), endFor);
});
reportReady();
