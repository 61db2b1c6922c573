/**
 * The workflow that is killed: agents that place orders side by side, one of them in its second attempt, agents
 * inside of tools, a loop of agents, and tasks that call tools by themselves. Model and shop are services outside of
 * this process. The tree is made by hand: a file without JSX needs no compiler at each of its many starts. Takes one
 * argument, in JSON; prints the result in JSON.
 */
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { ToolLoopAgent } from "ai";
import { z } from "zod";
import { createSmithers, defineTool, runWorkflow, ToolwrightError } from "../../../src/index.ts";
import { jsx } from "../../../src/jsx-runtime.ts";
import { openStore } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import {
  createCrashableRuntime,
  createScriptedModel,
  type ScriptedMessage,
} from "../../../src/testing/index.ts";
import { createOrderTool } from "../../crash/programs/shop-tools.ts";
import type { ModelAnswer, ModelLocation } from "../model-server.ts";

export interface OrdersWorkflowInput {
  readonly store: string;
  readonly shopUrl: string;
  readonly modelUrl: string;
  /** A line for each logged response that was not used. */
  readonly divergedFile: string;
  readonly runId: string;
  readonly resume: boolean;
  /** By the system's clock: two programs that start at the same moment. */
  readonly startAtMs?: number;
  /** Dies right after this many commits. */
  readonly killAtCommit?: number;
}

const input = JSON.parse(process.argv[2] ?? "") as OrdersWorkflowInput;
const keyed = createOrderTool("keyed", input.shopUrl);
const business = createOrderTool("business", input.shopUrl);
const reconciled = createOrderTool("reconciled", input.shopUrl);

/**
 * Each prompt contains `TASK <id> <pass>`; answers so far are counted; a later attempt is warned about the earlier
 * ones.
 */
function locationOf(prompt: readonly ScriptedMessage[]): ModelLocation {
  const text = JSON.stringify(prompt);
  const [, task = "", pass = ""] = /TASK ([\w-]+) (\d+)/.exec(text) ?? [];
  const position = prompt.filter(({ role }) => role === "assistant").length;
  return { task, pass: Number(pass), attempt: text.includes("Earlier attempts") ? 2 : 1, position };
}

const model = createScriptedModel(
  [
    async ({ prompt }) => {
      const response = await fetch(input.modelUrl, {
        method: "POST",
        body: JSON.stringify(locationOf(prompt)),
      });
      if (!response.ok) throw new Error("the model is overloaded");
      const answer = (await response.json()) as ModelAnswer;
      // Models generate new call ids each time.
      return typeof answer === "string"
        ? answer
        : answer.map((call) => ({ ...call, toolCallId: randomUUID() }));
    },
  ],
  { atEnd: "repeat-last" },
);

const delegate = defineTool({
  name: "delegate",
  schema: z.object({ task: z.string(), pass: z.number() }),
  sideEffect: true,
  idempotent: true,
  execute: async ({ task, pass }) => {
    const inner = new ToolLoopAgent({ model, tools: { place_keyed: keyed } });
    return (await inner.generate({ prompt: `TASK ${task} ${pass}` })).text;
  },
});

const { Workflow, Task, Parallel, Loop, smithers, outputs } = createSmithers({
  placed: z.object({ task: z.string(), pass: z.number(), orders: z.number() }),
  audit: z.object({ skus: z.array(z.string()) }),
  output: z.object({ total: z.number() }),
});
const agent = new ToolLoopAgent({
  model,
  tools: { place_keyed: keyed, place_business: business, place_reconciled: reconciled, delegate },
});

const agentTask = (id: string, pass: number) =>
  jsx(Task, { id, agent, output: outputs.placed, children: `TASK ${id} ${pass}` });

const workflow = smithers((ctx) =>
  jsx(Workflow, {
    name: "orders",
    children: [
      jsx(Parallel, { children: ["left", "right", "flaky"].map((id) => agentTask(id, 0)) }),
      jsx(Loop, {
        until: (ctx.latest(outputs.placed, "again")?.pass ?? 0) >= 1,
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

/** Dies after a commit, before any listener is notified. */
function killedAt(commit: number, store: Store): Store {
  let commits = 0;
  return {
    dialect: store.dialect,
    secret: store.secret,
    transaction: async (work, level) => {
      const result = await store.transaction(work, level);
      commits += 1;
      if (commits === commit) process.kill(process.pid, "SIGKILL");
      return result;
    },
    read: (work) => store.read(work),
    close: () => store.close(),
  };
}

const store = await openStore(input.store);
const runtime = createCrashableRuntime({ store: killedAt(input.killAtCommit ?? Infinity, store) });
await runtime.ready();
await pause(Math.max(0, (input.startAtMs ?? 0) - Date.now()));
try {
  const result = await runWorkflow(workflow, {
    runtime,
    runId: input.runId,
    resume: input.resume,
    onProgress: (event) => {
      if (event.type === "replay-diverged") appendFileSync(input.divergedFile, `${JSON.stringify(event)}\n`);
    },
  });
  const { status, output, outputs: rows, error } = result;
  console.log(JSON.stringify({ status, output, outputs: rows, error: error?.message }));
} catch (error) {
  if (!ToolwrightError.is(error)) throw error;
  console.log(JSON.stringify({ code: error.code, message: error.message }));
}
await runtime[Symbol.asyncDispose]();
await store.close();
