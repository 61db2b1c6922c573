/** Tools with seeded policies and behaviours. Each knows what kind of effect it has outside. */
import { setTimeout as sleep } from "node:timers/promises";
import { defineTool, type Tool } from "../../src/index.ts";
import { z } from "zod";
import type { FuzzProcess, Outside } from "./outside.ts";
import type { Random } from "../random.ts";

export type Kind = "pure" | "idempotent" | "keyed" | "blind" | "reconciled" | "business";

export interface FuzzTool {
  readonly kind: Kind;
  readonly tool: Tool<{ item: string }, { item: string }>;
}

interface Context {
  readonly idempotencyKey: string | null;
  readonly signal: AbortSignal;
  readonly process: FuzzProcess;
}

const KINDS: readonly Kind[] = ["pure", "idempotent", "keyed", "blind", "reconciled", "business"];
const SHORT_MS = 25;
const schema = z.object({ item: z.string() });

export function createTools(random: Random, outside: Outside): FuzzTool[] {
  const tools: FuzzTool[] = [];
  const count = 3 + random.below(4);
  for (let n = 0; n < count; n += 1) {
    // A tool may call those before it. It starts again after one of them has waited, so it must be idempotent.
    const isOuter = tools.length > 0 && random.chance(0.35);
    const kind = isOuter ? "idempotent" : random.pick(KINDS);
    const children = isOuter ? [random.pick(tools), random.pick(tools)] : [];
    tools.push(createTool(`${kind}_${n}`, kind, children, random, outside));
  }
  return tools;
}

function createTool(
  name: string,
  kind: Kind,
  children: readonly FuzzTool[],
  random: Random,
  outside: Outside,
): FuzzTool {
  const behaviours = random.fork(name);
  const entries = new Map<string, number>();
  const areParallel = random.chance(0.5);
  const effectOf = (item: string): string => `${name} ${item}`;
  const run = async ({ item }: { item: string }, ctx: Context): Promise<{ item: string }> => {
    const entry = (entries.get(item) ?? 0) + 1;
    entries.set(item, entry);
    const act = (): void => {
      // A process that was killed does nothing more.
      if (!ctx.process.isAlive) throw new Error("killed");
      if (kind === "keyed") outside.actOnce(effectOf(item), ctx.idempotencyKey ?? "no key");
      else if (kind !== "pure") outside.act(effectOf(item));
    };
    await behave(behaviours.fork(`${item} ${entry}`), act, ctx.signal);
    const calls = children.map(
      ({ tool }, index) =>
        () =>
          tool.execute({ item: `${item}/${index}` }),
    );
    if (areParallel) await Promise.all(calls.map((call) => call()));
    else for (const call of calls) await call();
    return { item };
  };
  const tool = defineTool({
    name,
    schema,
    sideEffect: kind !== "pure",
    idempotent: kind === "pure" || kind === "idempotent",
    ...(kind === "keyed" ? { acceptsIdempotencyKey: true } : {}),
    ...(kind === "blind" || kind === "reconciled" || kind === "business"
      ? { acceptsIdempotencyKey: false }
      : {}),
    ...(kind === "business" ? { idempotencyKey: ({ item }: { item: string }) => item } : {}),
    ...(kind === "reconciled" || kind === "business"
      ? {
          settleMs: 0,
          reconcile: ({ item }: { item: string }) =>
            outside.count(effectOf(item)) > 0
              ? ({ happened: true, output: { item } } as const)
              : ({ happened: false } as const),
        }
      : {}),
    ...policies(kind, random),
    execute: (args, ctx) => run(args, ctx as unknown as Context),
  });
  return { kind, tool };
}

function policies(kind: Kind, random: Random): object {
  return {
    timeoutMs: SHORT_MS * (1 + random.below(3)),
    ...(random.chance(0.4)
      ? {
          retry: {
            maxRetries: 1 + random.below(2),
            backoffMs: random.below(4),
            ...(random.chance(0.4) ? { circuitBreakerThreshold: 3 + random.below(3) } : {}),
          },
        }
      : {}),
    ...(kind === "pure" && random.chance(0.5) ? { cache: true } : {}),
    ...(random.chance(0.25) ? { needsApproval: true } : {}),
    ...(random.chance(0.15) ? { maxExecutionsPerRun: 4 + random.below(8) } : {}),
  };
}

/** How a service responds to its caller. The effect happens before, after, late, or not at all. */
async function behave(random: Random, act: () => void, signal: AbortSignal): Promise<void> {
  const pause = (): Promise<unknown> => (random.chance(0.5) ? sleep(random.below(6)) : Promise.resolve());
  await pause();
  switch (random.below(12)) {
    case 0:
      throw Object.assign(new Error("nothing happened"), { effect: "none" });
    case 1:
      throw new Error("failed before");
    case 2:
      act();
      throw new Error("failed after");
    case 3:
      // Stops on abort.
      await sleep(10_000, undefined, { signal });
      return;
    case 4:
      // Ignores its signal, and is late.
      await sleep(SHORT_MS * 4 + random.below(20));
      act();
      return;
    case 5:
      act();
      await sleep(SHORT_MS * 4);
      return;
    default:
      act();
      await pause();
  }
}
