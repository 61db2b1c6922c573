/**
 * The workflow that is killed: agents that place orders side by side, a loop of agents, and a task that calls tools by
 * itself. Each request to the model is written down outside of the store, before it is answered. The tree is made
 * by hand: a file without JSX needs no compiler at each of its many starts. Takes one argument, in JSON; prints the result in JSON.
 */
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { ToolLoopAgent } from "ai";
import { z } from "zod";
import { createSmithers, runWorkflow, ToolwrightError } from "../../../src/index.ts";
import { jsx } from "../../../src/jsx-runtime.ts";
import {
  createCrashableRuntime,
  createScriptedModel,
  type ScriptedMessage,
  type ScriptedTurn,
} from "../../../src/testing/index.ts";
import { createOrderTool } from "../../crash/programs/shop-tools.ts";

export interface OrdersWorkflowInput {
  readonly store: string;
  readonly shopUrl: string;
  /** One line for each request to the model: task, pass, place. */
  readonly requestsFile: string;
  readonly runId: string;
  readonly resume: boolean;
  /** By the system's clock: two programs that start at the same moment. */
  readonly startAtMs?: number;
}

const input = JSON.parse(process.argv[2] ?? "") as OrdersWorkflowInput;
const keyed = createOrderTool("keyed", input.shopUrl);
const business = createOrderTool("business", input.shopUrl);
const reconciled = createOrderTool("reconciled", input.shopUrl);

/** `TASK <id> <pass>` stands in each prompt; answers so far are counted. */
function placeOf(prompt: readonly ScriptedMessage[]): { task: string; pass: string; position: number } {
  const [, task = "", pass = ""] = /TASK ([\w-]+) (\d+)/.exec(JSON.stringify(prompt)) ?? [];
  return { task, pass, position: prompt.filter(({ role }) => role === "assistant").length };
}

const order = (toolName: string, ...skus: string[]) =>
  skus.map((sku) => ({ toolName, input: { sku }, toolCallId: randomUUID() }));

const answer: ScriptedTurn = async ({ prompt }) => {
  const { task, pass, position } = placeOf(prompt);
  appendFileSync(input.requestsFile, `${task} ${pass} ${position}\n`);
  await pause(3);
  const sku = (name: string): string => `${task}-${pass}-${name}`;
  switch (position) {
    case 0:
      return [...order("place_keyed", sku("a"), sku("b")), ...order("place_business", sku("c"))];
    case 1:
      // The same article once more: a second order, before a crash and after it.
      return [...order("place_keyed", sku("a")), ...order("place_reconciled", sku("d"))];
    case 2:
      return "I have ordered everything.";
    default:
      return JSON.stringify({ task, pass: Number(pass), orders: 5 });
  }
};

const { Workflow, Task, Parallel, Loop, smithers, outputs } = createSmithers(
  {
    placed: z.object({ task: z.string(), pass: z.number(), orders: z.number() }),
    audit: z.object({ skus: z.array(z.string()) }),
    output: z.object({ total: z.number() }),
  },
  { store: input.store },
);
const agent = new ToolLoopAgent({
  model: createScriptedModel([answer], { atEnd: "repeat-last" }),
  tools: { place_keyed: keyed, place_business: business, place_reconciled: reconciled },
});

const agentTask = (id: string, pass: number) =>
  jsx(Task, { id, agent, output: outputs.placed, children: `TASK ${id} ${pass}` });

const workflow = smithers((ctx) =>
  jsx(Workflow, {
    name: "orders",
    children: [
      jsx(Parallel, { children: ["left", "right", "middle"].map((id) => agentTask(id, 0)) }),
      jsx(Loop, {
        until: (ctx.latest(outputs.placed, "again")?.pass ?? 0) >= 2,
        maxIterations: 5,
        children: [
          agentTask("again", ctx.iteration),
          jsx(Task, {
            id: "audit",
            output: outputs.audit,
            children: async () => {
              const skus = [`audit-${ctx.iteration}-a`, `audit-${ctx.iteration}-b`];
              const [one, other] = await Promise.all(skus.map((sku) => keyed.execute({ sku })));
              return { skus: [one?.sku ?? "", other?.sku ?? ""] };
            },
          }),
        ],
      }),
      jsx(Task, {
        id: "total",
        output: outputs.output,
        children: () => ({
          total: ctx.outputs.placed.reduce((sum: number, { orders }: { orders: number }) => sum + orders, 0),
        }),
      }),
    ],
  }),
);

await using runtime = createCrashableRuntime({ store: input.store });
await runtime.ready();
await pause(Math.max(0, (input.startAtMs ?? 0) - Date.now()));
try {
  const {
    status,
    output,
    outputs: rows,
    error,
  } = await runWorkflow(workflow, {
    runtime,
    runId: input.runId,
    resume: input.resume,
  });
  console.log(JSON.stringify({ status, output, outputs: rows, error: error?.message }));
} catch (error) {
  if (!ToolwrightError.is(error)) throw error;
  console.log(JSON.stringify({ code: error.code, message: error.message }));
}
