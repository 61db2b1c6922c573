/** The tools of the stored-format programs, one for each way in which a call is recorded. */
import { defineTool } from "toolwright";
import { z } from "zod";
import { OUTPUT_VALUES } from "./values.ts";

const receipt = z.object({ receipt: z.number() });
type Receipt = z.output<typeof receipt>;

export type Tools = ReturnType<typeof createTools>;

export function createTools(worldUrl: string) {
  const perform = async (effect: string, key: string | null): Promise<Receipt> => {
    const response = await fetch(worldUrl, { method: "POST", body: JSON.stringify({ effect, key }) });
    return receipt.parse(await response.json());
  };
  const id = z.object({ id: z.string() });
  return {
    /** Passes its idempotency key on: an interrupted call runs again, and the world deduplicates it. */
    pay: defineTool({
      name: "pay",
      schema: id,
      outputSchema: receipt,
      sideEffect: true,
      execute: (args, ctx) => perform(`pay ${args.id}`, ctx.idempotencyKey),
    }),
    /** Nothing can tell whether an interrupted call happened. */
    notify: defineTool({
      name: "notify",
      schema: id,
      outputSchema: receipt,
      sideEffect: true,
      execute: (args) => perform(`notify ${args.id}`, null),
    }),
    ship: defineTool({
      name: "ship",
      schema: z.object({ order: z.string(), speed: z.string().optional() }),
      sideEffect: true,
      idempotencyKey: ({ order }) => `order ${order}`,
      execute: ({ order }, ctx) => perform(`ship ${order}`, ctx.idempotencyKey),
    }),
    refund: defineTool({
      name: "refund",
      schema: id,
      sideEffect: true,
      needsApproval: true,
      // Without a key: a second redemption would show in the ledger.
      execute: (args) => perform(`refund ${args.id}`, null),
    }),
    logIn: defineTool({
      name: "log_in",
      schema: z.object({ user: z.string(), password: z.string() }),
      sideEffect: true,
      redact: { input: ["password"] },
      execute: ({ user, password }) => perform(`log_in ${user} ${password.length}`, null),
    }),
    issueToken: defineTool({
      name: "issue_token",
      schema: z.object({ user: z.string() }),
      sideEffect: true,
      redact: { output: ["token"] },
      execute: async ({ user }) => {
        await perform(`issue_token ${user}`, null);
        return { user, token: `token of ${user}` };
      },
    }),
    lookUp: defineTool({
      name: "look_up",
      schema: id,
      cache: { scope: "global" },
      execute: (args) => perform(`look_up ${args.id}`, null),
    }),
    lookUpInRun: defineTool({
      name: "look_up_in_run",
      schema: id,
      cache: { keyFn: (args) => [args.id, new Date(0)] },
      execute: (args) => perform(`look_up_in_run ${args.id}`, null),
    }),
    /** Takes any value as its argument. */
    keep: defineTool({
      name: "keep",
      schema: z.object({ value: z.any() }),
      sideEffect: true,
      execute: () => perform("keep", null),
    }),
    keepHidden: defineTool({
      name: "keep_hidden",
      schema: z.object({ value: z.any() }),
      sideEffect: true,
      redact: { input: ["value"] },
      execute: () => perform("keep_hidden", null),
    }),
    keepOnce: defineTool({
      name: "keep_once",
      schema: z.object({ order: z.string(), value: z.any() }),
      sideEffect: true,
      idempotencyKey: ({ order }) => order,
      execute: ({ order }) => perform(`keep_once ${order}`, null),
    }),
    keepApproved: defineTool({
      name: "keep_approved",
      schema: z.object({ value: z.any() }),
      sideEffect: true,
      needsApproval: true,
      execute: () => perform("keep_approved", null),
    }),
    /** Returns a value of each kind that JSON has no form for. */
    makeValue: defineTool({
      name: "make_value",
      schema: z.object({ name: z.string() }),
      sideEffect: true,
      execute: async ({ name }): Promise<unknown> => {
        await perform(`make_value ${name}`, null);
        return OUTPUT_VALUES[name]?.returned;
      },
    }),
  };
}
