/** One script serves a run before and after a restart, although replayed responses never reach the scripted model. */
import { ToolLoopAgent } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { recordModel } from "../../src/adapters/ai-sdk/index.ts";
import { createRuntime, createSmartAgent, defineTool } from "../../src/index.ts";
import { createScriptedModel } from "../../src/testing/index.ts";

const SCRIPT = [
  [{ toolName: "look", input: { order: "o-1" } }],
  [{ toolName: "refund", input: { order: "o-1", cents: 500 } }],
  "Refunded.",
];

function createTools() {
  const refunds: string[] = [];
  const schema = z.object({ order: z.string(), cents: z.int().default(0) });
  const look = defineTool({ name: "look", schema, execute: () => ({ cents: 500 }) });
  const refund = defineTool({
    name: "refund",
    schema,
    sideEffect: true,
    idempotent: false,
    needsApproval: true,
    execute: ({ order }, ctx) => {
      refunds.push(ctx.idempotencyKey);
      return { order };
    },
  });
  return { look, refund, refunds };
}

test.each(["an AI SDK agent", "a smart agent"])("%s waits, restarts and acts once", async (kind) => {
  const { look, refund, refunds } = createTools();
  const runtime = createRuntime({ store: ":memory:" });
  onTestFinished(() => runtime.close());
  const runId = "ticket-1";
  // A new model each time, as in a new process.
  const start = async (): Promise<string> => {
    const model = createScriptedModel(SCRIPT);
    if (kind === "a smart agent") {
      const agent = createSmartAgent({ name: "support", model, tools: [look, refund], runtime });
      const messages = [{ role: "user" as const, content: "Refund o-1." }];
      return (await agent.invoke({ runId, messages })).content;
    }
    const agent = new ToolLoopAgent({ model: recordModel(model), tools: { look, refund } });
    return (await runtime.run({ runId }, () => agent.generate({ prompt: "Refund o-1." }))).text;
  };

  await start();
  const [request, ...others] = await runtime.approvals({ runId, status: "pending" });
  expect(others).toEqual([]);
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });

  expect(await start()).toBe("Refunded.");
  expect(refunds).toHaveLength(1);
  expect(await runtime.approvals({ runId, status: "pending" })).toEqual([]);
});
