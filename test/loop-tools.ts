/** Tools for the tests of loops: each loop must treat the same tool in the same way. */
import { defineTool } from "toolwright";
import { z } from "zod";

export const weather = defineTool({
  name: "weather",
  description: "The weather in a city",
  schema: z.object({ city: z.string(), unit: z.enum(["C", "F"]).default("C") }),
  execute: ({ city, unit }) => ({ city, degrees: 21, unit }),
});

/** Needs approval, and collects the placed orders. */
export function createOrder(name = "order") {
  const placed: string[] = [];
  const order = defineTool({
    name,
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    needsApproval: true,
    execute: async ({ sku }, ctx) => {
      void ctx.idempotencyKey;
      placed.push(sku);
      return { placed: sku };
    },
  });
  return { order, placed };
}

/** Takes positive amounts, and collects them. */
export function createPay() {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number().positive() }),
    execute: ({ amount }) => paid.push(amount),
  });
  return { pay, paid };
}

/** A side effect without arguments that collects its idempotency keys. */
export function createCount() {
  const keys: (string | null)[] = [];
  const count = defineTool({
    name: "count",
    schema: z.object({}),
    sideEffect: true,
    execute: (_args, ctx) => ({ runs: keys.push(ctx.idempotencyKey) }),
  });
  return { count, keys };
}

/** Waits until its signal fires, and collects the reasons. */
export function createWait() {
  const started = Promise.withResolvers<void>();
  const reasons: unknown[] = [];
  const wait = defineTool({
    name: "wait",
    schema: z.object({}),
    sideEffect: true,
    execute: (_args, ctx) =>
      new Promise<string>((_resolve, reject) => {
        void ctx.idempotencyKey;
        ctx.signal.addEventListener("abort", () => {
          reasons.push(ctx.signal.reason);
          reject(new Error("stopped"));
        });
        started.resolve();
      }),
  });
  return { wait, started: started.promise, reasons };
}
