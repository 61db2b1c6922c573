/** Programs whose calls wait for a decision, or whose outcome is unknown. */
import { createRuntime, type Outcome } from "toolwright";
import type { ProgramInput } from "./calls.ts";
import { createTools } from "./tools.ts";

export const REFUNDS = ["pending", "approved", "edited", "denied"] as const;

export async function refund({ store, worldUrl }: ProgramInput, id: string): Promise<Outcome> {
  await using runtime = createRuntime({ store });
  return runtime.call(createTools(worldUrl).refund, { id }, { runId: `refund ${id}` });
}

/** Makes the four requests, and decides three of them. Nothing is redeemed. */
export async function requestRefunds(input: ProgramInput): Promise<string[]> {
  const results = [];
  for (const id of REFUNDS) {
    const outcome = await refund(input, id);
    results.push(outcome.status);
    if (id === "pending" || outcome.status !== "pending") continue;
    await using runtime = createRuntime({ store: input.store });
    await runtime.resolveToolApproval(outcome.approval.id, {
      approved: id !== "denied",
      ...(id === "edited" ? { approvedArgs: { id: "edited by a person" } } : {}),
      decidedBy: "ada",
      comment: `about ${id}`,
    });
  }
  return results;
}

/** Held when the store is made: nobody knows whether it happened. */
export async function notifyOnce({ store, worldUrl }: ProgramInput, id: string): Promise<Outcome> {
  await using runtime = createRuntime({ store });
  return runtime.call(createTools(worldUrl).notify, { id }, { runId: `notify ${id}` });
}
