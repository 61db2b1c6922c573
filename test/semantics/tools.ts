/** Tools that count their effects, for tests that check how often an effect happened. */
import { defineTool, type ToolPolicies } from "toolwright";
import { z } from "zod";

export type Policies = ToolPolicies<{ amount: number }, { id: string }, object>;

/** A charge: a non-idempotent side effect that passes its key on. `behave` may throw, hang or return another result. */
export function createCharge(
  policies: Policies = {},
  behave: (count: number, signal: AbortSignal) => unknown = () => undefined,
) {
  const effects: { amount: number; key: string | null }[] = [];
  const charge = defineTool({
    name: "charge",
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    idempotent: false,
    ...policies,
    async execute({ amount }, ctx) {
      effects.push({ amount, key: ctx.idempotencyKey });
      const other: unknown = await behave(effects.length, ctx.signal);
      return (other ?? { id: `ch_${effects.length}` }) as { id: string };
    },
  });
  return { charge, effects };
}

/** The same without a key: the service cannot distinguish a repetition from a second charge. */
export function createBlindCharge(
  policies: Policies = {},
  behave: (count: number) => unknown = () => undefined,
) {
  const effects: number[] = [];
  const charge = defineTool({
    name: "blind_charge",
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: false,
    ...policies,
    async execute({ amount }) {
      effects.push(amount);
      const other: unknown = await behave(effects.length);
      return (other ?? { id: `ch_${effects.length}` }) as { id: string };
    },
  });
  return { charge, effects };
}

/** An error by which a tool promises that nothing happened. */
export function harmless(message: string): Error {
  return Object.assign(new Error(message), { effect: "none" });
}
