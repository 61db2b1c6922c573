/**
 * Random combinations of retry, cache, limits, slots, breakers, nesting, business keys and aborts, on two runtimes that
 * share a store. Every call ends, nothing stays reserved, and no business key has two effects.
 */
import { createRuntime, defineTool, type Limits, type Runtime, type Store } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createRandom } from "../random.ts";
import { createWorld, until } from "./harness.ts";

const IS_POSTGRES = process.env["TOOLWRIGHT_TEST_STORE"] === "postgres";
const ROUNDS = IS_POSTGRES ? 30 : 240;
const COUNT_DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
const PATIENCE_MS = 25_000;

interface Step {
  readonly tool: "look" | "work" | "pay" | "group";
  readonly n: number;
  readonly parts: readonly Step[];
  readonly together: boolean;
}

const step: z.ZodType<Step> = z.lazy(() =>
  z.object({
    tool: z.enum(["look", "work", "pay", "group"]),
    n: z.number(),
    parts: z.array(step),
    together: z.boolean(),
  }),
);

class Round {
  readonly paid: string[] = [];
  readonly #random: () => number;
  readonly #tools: Record<Step["tool"], ReturnType<Round["make"]>>;

  constructor(seed: number) {
    this.#random = createRandom(seed);
    const flaky = { maxRetries: 2, backoffMs: 1, circuitBreakerThreshold: this.below(2) === 0 ? 3 : 50 };
    this.#tools = {
      look: this.make("look", { cache: true, retry: this.below(2) === 0 ? flaky : {} }),
      work: this.make("work", { retry: flaky, ...(this.below(3) === 0 ? { maxExecutionsPerRun: 4 } : {}) }),
      pay: this.make("pay", {
        sideEffect: true,
        idempotent: false,
        timeoutMs: 400,
        onUnknown: this.below(2) === 0 ? "fail" : "tell",
        idempotencyKey: ({ n }: Step) => `order-${seed}-${n}`,
      }),
      group: this.make("group", { cache: this.below(2) === 0, retry: { maxRetries: 1, backoffMs: 0 } }),
    };
  }

  below(most: number): number {
    return Math.floor(this.#random() * most);
  }

  limits(): Limits {
    return {
      ...(this.below(2) === 0 ? { maxParallelTools: 1 + this.below(2) } : {}),
      ...(this.below(2) === 0 ? { maxCostUsd: 1 + this.below(3) } : {}),
      ...(this.below(3) === 0 ? { maxTotalOutputBytes: 500 + this.below(2_000) } : {}),
      ...(this.below(4) === 0 ? { maxToolCalls: 4 + this.below(8) } : {}),
      ...(this.below(4) === 0 ? { maxWallClockMs: 60_000 } : {}),
    };
  }

  plan(depth = 2): Step {
    const isGroup = depth > 0 && this.below(2) === 0;
    const leaf = (["look", "work", "pay"] as const)[this.below(3)] ?? "look";
    const parts = isGroup ? Array.from({ length: 1 + this.below(3) }, () => this.plan(depth - 1)) : [];
    // Few numbers, so that equal calls are likely.
    return {
      tool: isGroup && this.below(3) > 0 ? "group" : leaf,
      n: this.below(2),
      parts,
      together: this.below(2) === 0,
    };
  }

  make(name: string, policies: object) {
    return defineTool({
      name,
      schema: step,
      ...policies,
      execute: async (args: Step, ctx): Promise<string> => {
        const fate = this.below(8);
        ctx.reportCost(0.05 * this.below(3));
        if (this.below(2) === 0) await new Promise((resolve) => setTimeout(resolve, this.below(4)));
        if (fate === 0) throw new Error("lost");
        if (fate === 1) throw Object.assign(new Error("refused"), { effect: "none" });
        if (name === "pay") this.paid.push(ctx.idempotencyKey);
        const make = (part: Step): Promise<unknown> => this.#tools[part.tool].execute(part);
        if (args.together) await Promise.allSettled(args.parts.map(make));
        else for (const part of args.parts) await make(part).catch(() => undefined);
        return "x".repeat(this.below(200));
      },
    });
  }

  call(runtime: Runtime, index: number, runId: string): Promise<unknown> {
    const plan = this.plan();
    const isCut = this.below(10) === 0;
    return runtime.call(this.#tools[plan.tool], plan, {
      runId,
      nodeId: `task-${this.below(3)}`,
      ...(this.below(4) === 0 ? { callKey: `key-${this.below(2)}` } : { callKey: `own-${index}` }),
      ...(isCut ? { signal: AbortSignal.timeout(this.below(30)) } : {}),
    });
  }
}

async function play(seed: number, stores: readonly Store[]): Promise<Round> {
  const round = new Round(seed);
  const limits = round.limits();
  const runtimes = stores.map((store) => createRuntime({ store, limits }));
  const calls = Array.from({ length: 3 + round.below(4) }, (_, index) =>
    round.call(runtimes[round.below(3) === 0 ? 1 : 0] as Runtime, index, `run-${seed}`),
  );
  const late = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new Error(`seed ${seed} did not end: ${JSON.stringify(limits)}`));
    const timer = setTimeout(fail, PATIENCE_MS);
    void Promise.allSettled(calls).then(() => clearTimeout(timer));
  });
  const settled = await Promise.race([Promise.allSettled(calls), late]);
  for (const one of settled)
    if (one.status === "rejected") throw new Error(`seed ${seed}`, { cause: one.reason });
  await Promise.race([Promise.all(runtimes.map((one) => one[Symbol.asyncDispose]())), late]);
  return round;
}

it(
  `rule 24: ${ROUNDS} rounds of policies at random end, hold nothing and pay no order twice`,
  { timeout: 600_000 },
  async () => {
    const world = await createWorld();
    const stores = [await world.open(), await world.open()];
    const first = Number(process.env["TOOLWRIGHT_SEED"] ?? 1);
    for (let seed = first; seed < first + ROUNDS; seed += 1) {
      const { paid } = await play(seed, stores);
      expect(paid, `seed ${seed}`).toEqual([...new Set(paid)]);
      await until(async () => (await world.rows("SELECT * FROM toolwright_reservations")).length === 0);
    }
    // A deadlock is retried, but it stops its calls for a second, and a call that meets twenty of them fails.
    if (IS_POSTGRES) expect(Number((await world.rows(COUNT_DEADLOCKS))[0]?.["deadlocks"])).toBeLessThan(10);
  },
);
