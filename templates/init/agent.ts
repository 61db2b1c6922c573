/**
 * An AI SDK agent in a run. After a crash, or when an approval was decided, run it again with the same run id: logged
 * responses and calls are replayed, and no order is placed twice.
 */
import { type LanguageModel, ToolLoopAgent } from "ai";
import type { Runtime } from "toolwright";
import { placeOrder } from "./place-order.ts";

export async function runAgent(
  runtime: Runtime,
  { model, runId, prompt }: { model: LanguageModel; runId: string; prompt: string },
) {
  const agent = new ToolLoopAgent({ model, tools: { place_order: placeOrder } });
  const { text } = await runtime.run({ runId }, () => agent.generate({ prompt }));
  return { text, pending: await runtime.approvals({ runId, status: "pending" }) };
}
