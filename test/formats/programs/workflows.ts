/** Workflows: one that finishes, one whose agent is interrupted, nested loops that are interrupted, one that waits. */
import { ToolLoopAgent } from "ai";
import { createRuntime, createSmithers, defineTool, runWorkflow } from "toolwright";
import { jsx } from "toolwright/jsx-runtime";
import { createScriptedModel, type ScriptedAnswer } from "toolwright/testing";
import { z } from "zod";
import type { ProgramInput } from "./calls.ts";
import { createTools, type Tools } from "./tools.ts";

interface WorkflowReport {
  readonly status: string;
  readonly outputs: Readonly<Record<string, readonly unknown[]>>;
  /** How many answers the model was asked for. */
  readonly asked: number;
  readonly diverged: number;
  readonly error: string | undefined;
}

const { Workflow, Task, Loop, smithers, outputs } = createSmithers({
  paid: z.object({ id: z.string(), receipt: z.number() }),
  values: z.object({ at: z.date(), amounts: z.map(z.string(), z.bigint()) }),
  output: z.object({ orders: z.number() }),
});

type Definition = ReturnType<typeof smithers>;

async function run(
  { store }: ProgramInput,
  runId: string,
  workflow: Definition,
  asked: () => number = () => 0,
): Promise<WorkflowReport> {
  await using runtime = createRuntime({ store });
  let diverged = 0;
  const result = await runWorkflow(workflow, {
    runtime,
    runId,
    resume: "auto",
    onProgress: ({ type }) => {
      if (type === "replay-diverged") diverged += 1;
    },
  });
  const { status, outputs: rows, error } = result;
  return { status, outputs: rows, asked: asked(), diverged, error: error?.message };
}

const payTask = (tools: Tools, taskId: string, id: string) =>
  jsx(Task, {
    id: taskId,
    output: outputs.paid,
    children: async () => ({ id, ...(await tools.pay.execute({ id })) }),
  });

/** Two passes of an outer loop, each with two of an inner one. */
const nestedLoops = (tools: Tools, name: string, held: string) =>
  smithers((ctx) => {
    const done = ctx.outputs.paid.length;
    const id = `${name} ${done}`;
    return jsx(Workflow, {
      name,
      children: jsx(Loop, {
        id: "outer",
        until: done >= 4,
        maxIterations: 2,
        children: jsx(Loop, {
          id: "inner",
          until: done > 0 && done % 2 === 0,
          maxIterations: 2,
          children: payTask(tools, "pay", done === 2 ? held : id),
        }),
      }),
    });
  });

export function finishedWorkflow(input: ProgramInput): Promise<WorkflowReport> {
  const tools = createTools(input.worldUrl);
  const workflow = smithers(() =>
    jsx(Workflow, {
      name: "finished",
      children: [
        payTask(tools, "first", "finished first"),
        jsx(Task, {
          id: "values",
          output: outputs.values,
          children: () => ({ at: new Date(86_400_000), amounts: new Map([["a", 1n]]) }),
        }),
      ],
    }),
  );
  return run(input, "workflow finished", workflow);
}

export function finishedLoops(input: ProgramInput): Promise<WorkflowReport> {
  const tools = createTools(input.worldUrl);
  return run(input, "loops finished", nestedLoops(tools, "loops finished", "loops finished 2"));
}

/** Held in the first pass of the inner loop of the second outer pass. */
export function interruptedLoops(input: ProgramInput): Promise<WorkflowReport> {
  const tools = createTools(input.worldUrl);
  return run(input, "loops interrupted", nestedLoops(tools, "loops", "loops held"));
}

const pay = (id: string) => ({ toolName: "pay", input: { id } });

const AGENT: readonly ScriptedAnswer[] = [
  [
    pay("agent a"),
    { toolName: "log_in", input: { user: "agent", password: "the agent's secret" } },
    { toolName: "delegate", input: { work: "inner" } },
  ],
  // The same payment once more: a second call.
  [pay("agent a"), pay("agent b")],
  [pay("agent held")],
  JSON.stringify({ orders: 5 }),
];

/** The model's third answer is recorded; its call has happened, and its outcome is not recorded. */
export function interruptedAgent(input: ProgramInput): Promise<WorkflowReport> {
  const tools = createTools(input.worldUrl);
  const inner = createScriptedModel(
    [({ turn }) => (turn === 0 ? [pay("inner a"), pay("inner b")] : "Paid both.")],
    { atEnd: "repeat-last" },
  );
  const model = createScriptedModel([({ turn }) => AGENT[turn] ?? "What else?"], { atEnd: "repeat-last" });
  const delegate = defineTool({
    name: "delegate",
    schema: z.object({ work: z.string() }),
    sideEffect: true,
    idempotent: true,
    execute: async ({ work }) => {
      const agent = new ToolLoopAgent({ model: inner, tools: { pay: tools.pay } });
      return (await agent.generate({ prompt: work })).text;
    },
  });
  const agent = new ToolLoopAgent({ model, tools: { pay: tools.pay, log_in: tools.logIn, delegate } });
  const workflow = smithers(() =>
    jsx(Workflow, {
      name: "interrupted",
      children: [
        payTask(tools, "first", "interrupted first"),
        jsx(Task, { id: "agent", agent, output: outputs.output, children: "Pay for the orders." }),
        payTask(tools, "last", "interrupted last"),
      ],
    }),
  );
  return run(input, "workflow interrupted", workflow, () => model.requests.length + inner.requests.length);
}

export function waitingWorkflow(input: ProgramInput): Promise<WorkflowReport> {
  const tools = createTools(input.worldUrl);
  const workflow = smithers(() =>
    jsx(Workflow, {
      name: "waiting",
      children: jsx(Task, {
        id: "refund",
        output: outputs.paid,
        children: async () => ({ id: "workflow", ...(await tools.refund.execute({ id: "workflow" })) }),
      }),
    }),
  );
  return run(input, "workflow waiting", workflow);
}
