/** Tools for the loops of other packages: each loop is to treat the same tool in the same way. */
import { defineTool } from "toolwright";
import { z } from "zod";

export const weather = defineTool({
  name: "weather",
  description: "The weather in a city",
  schema: z.object({ city: z.string(), unit: z.enum(["C", "F"]).default("C") }),
  execute: ({ city, unit }) => ({ city, degrees: 21, unit }),
});

/** Needs approval, and writes down what it placed. */
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

/** Takes positive amounts, and writes down which. */
export function createPay() {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number().positive() }),
    execute: ({ amount }) => paid.push(amount),
  });
  return { pay, paid };
}

/** A side effect without arguments, that counts how often it was run. */
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

/** Waits until it is told to stop, and writes down why. */
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
