/**
 * A process that runs workflows on command, over its channel, and reports their results. In the middle of each run a
 * tool waits for a command to continue, or until its signal fires. Arguments: name, store, shop.
 */
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import {
  createRuntime,
  createSmithers,
  defineTool,
  runWorkflow,
  ToolwrightError,
} from "../../../src/index.ts";
import { jsx } from "../../../src/jsx-runtime.ts";
import { createOrderTool } from "../../crash/programs/shop-tools.ts";

export type SteeringCommand =
  | { readonly type: "run"; readonly runId: string; readonly resume: boolean; readonly atMs?: number }
  /** Starts a run and releases it before its first task. */
  | { readonly type: "prepare"; readonly runId: string }
  | { readonly type: "release" }
  | { readonly type: "leave" };

export type SteeringNews =
  | { readonly type: "ready" }
  | { readonly type: "held"; readonly runId: string }
  | { readonly type: "signalled"; readonly code: string }
  | { readonly type: "ended"; readonly runId: string; readonly end: string; readonly by: readonly string[] };

const [name = "", store = "", shopUrl = ""] = process.argv.slice(2);
const say = (news: SteeringNews): void => void process.send?.(news);
const order = createOrderTool("keyed", shopUrl);
let released = Promise.withResolvers<void>();

const hold = defineTool({
  name: "hold",
  schema: z.object({ sku: z.string() }),
  sideEffect: true,
  execute: async ({ sku }, ctx) => {
    const signalled = new Promise<void>((resolve) => {
      ctx.signal.addEventListener("abort", () => {
        const reason: unknown = ctx.signal.reason;
        say({ type: "signalled", code: ToolwrightError.is(reason) ? reason.code : String(reason) });
        resolve();
      });
    });
    say({ type: "held", runId: ctx.runId });
    await Promise.race([released.promise, signalled]);
    // The request is sent in any case, like one that was already on its way.
    await fetch(shopUrl, { method: "POST", body: JSON.stringify({ sku, key: ctx.idempotencyKey }) });
    return { by: name };
  },
});

const { Workflow, Task, smithers, outputs } = createSmithers({ done: z.object({ by: z.string() }) });
const workflow = smithers((ctx) => {
  const task = (id: string, children: () => Promise<unknown>) =>
    jsx(Task, { id, output: outputs.done, retries: 0, children });
  const place = async (sku: string) => {
    await order.execute({ sku: `${ctx.runId}-${sku}` });
    return { by: name };
  };
  return jsx(Workflow, {
    name: "steered",
    children: [
      task("first", () => place("first")),
      task("held", () => hold.execute({ sku: `${ctx.runId}-held` })),
      task("last", () => place("last")),
    ],
  });
});

const runtime = createRuntime({ store });
await runtime.ready();

async function run(runId: string, options: { resume: boolean; signal?: AbortSignal }): Promise<void> {
  try {
    const { status, outputs: rows } = await runWorkflow(workflow, { runtime, runId, ...options });
    const by = (rows["done"] ?? []).map((row) => (row as { by: string }).by);
    say({ type: "ended", runId, end: status, by });
  } catch (error) {
    say({ type: "ended", runId, end: ToolwrightError.is(error) ? error.code : String(error), by: [] });
  }
}

process.on("message", async (command: SteeringCommand) => {
  switch (command.type) {
    case "prepare":
      await run(command.runId, { resume: false, signal: AbortSignal.abort() });
      return;
    case "run":
      await pause(Math.max(0, (command.atMs ?? 0) - Date.now()));
      await run(command.runId, { resume: command.resume });
      return;
    case "release":
      released.resolve();
      released = Promise.withResolvers();
      return;
    case "leave":
      await runtime[Symbol.asyncDispose]();
      process.disconnect();
  }
});
say({ type: "ready" });
