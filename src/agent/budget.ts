/**
 * The budgets of a run: calls, tokens, cost, time. The store counts them, together with the calls, so that sub-agents share
 * them and a resume continues them. The usage of a response is written in the transaction that stores the response.
 */
import { describe } from "../definition/option-checks.ts";
import type { ToolwrightError } from "../errors.ts";
import { messageOf } from "../invoke/error-record.ts";
import type { Limits } from "../invoke/host.ts";
import type { Scope } from "../invoke/scope.ts";
import { refusal } from "../runtime/options.ts";
import type { Transaction } from "../store/store.ts";
import { addUsage, peekUsage } from "../store/tables/usage.ts";
import { encode } from "../util/encode.ts";
import type { ModelUsage } from "../model/agent-model.ts";
import type { SmartAgentLimits, SmartAgentOptions } from "./options.ts";

type CostOf = SmartAgentOptions["costOf"];

/** By the names under which they are stored. */
const KEPT_AS = {
  maxToolCalls: "calls",
  maxTotalOutputTokens: "maxTotalOutputTokens",
  maxTotalOutputBytes: "maxTotalOutputBytes",
  maxCostUsd: "maxCostUsd",
  maxWallClockMs: "maxWallClockMs",
} as const;

type BudgetName = keyof typeof KEPT_AS;

export class AgentBudget {
  readonly #scope: Scope;
  readonly #limits: Limits;
  /** The limits of a sub-agent itself. A resumed sub-agent replays from its start, so it counts them from 0. */
  readonly #own: SmartAgentLimits;
  readonly #began: number;
  #calls = 0;
  #bytes = 0;
  #tokens = 0;
  #costUsd = 0;

  constructor(scope: Scope, own: SmartAgentLimits) {
    this.#scope = scope;
    this.#limits = stricter(scope.host.limits, scope.root.limits);
    this.#own = own;
    this.#began = scope.host.clock.monotonic();
  }

  get maxParallel(): number | undefined {
    return stricter(this.#limits, this.#own).maxParallelTools;
  }

  /** The calls left under the limit of a sub-agent itself. */
  get callsLeft(): number {
    return Math.max(0, (this.#own.maxToolCalls ?? Infinity) - this.#calls);
  }

  /** Counts a call that ran, even a replayed one. @param output `undefined` after an error */
  countCall(output: unknown): void {
    this.#calls += 1;
    if (this.#own.maxTotalOutputBytes !== undefined && output !== undefined)
      this.#bytes += Buffer.byteLength(encode(output));
  }

  /** The first exceeded budget. */
  async spent(): Promise<string | undefined> {
    return this.#ownSpent() ?? (await this.#runSpent());
  }

  #ownSpent(): string | undefined {
    const { maxToolCalls, maxTotalOutputTokens, maxTotalOutputBytes, maxCostUsd, maxWallClockMs } = this.#own;
    if (this.#calls >= (maxToolCalls ?? Infinity)) return "maxToolCalls";
    if (this.#bytes >= (maxTotalOutputBytes ?? Infinity)) return "maxTotalOutputBytes";
    if (this.#tokens >= (maxTotalOutputTokens ?? Infinity)) return "maxTotalOutputTokens";
    if (this.#costUsd >= (maxCostUsd ?? Infinity)) return "maxCostUsd";
    const elapsed = this.#scope.host.clock.monotonic() - this.#began;
    return elapsed >= (maxWallClockMs ?? Infinity) ? "maxWallClockMs" : undefined;
  }

  async #runSpent(): Promise<string | undefined> {
    const { host, budgetId } = this.#scope;
    const limited = (Object.keys(KEPT_AS) as BudgetName[]).filter((name) => this.#limits[name] !== undefined);
    if (limited.length === 0) return undefined;
    const limits = this.#limits;
    const activeMs = host.budgets.unrecordedMs(budgetId);
    return host.store.read(function* () {
      for (const name of limited) {
        const used = (yield* peekUsage(budgetId, KEPT_AS[name]))?.used ?? 0;
        const now = name === "maxWallClockMs" ? activeMs : 0;
        if (used + now >= (limits[name] ?? Infinity)) return name;
      }
      return undefined;
    });
  }

  /** Counts a response, even a replayed one. */
  note(usage: ModelUsage, costUsd: number): void {
    this.#tokens += usage.outputTokens ?? 0;
    this.#costUsd += costUsd;
  }

  /** For the transaction that stores a response. */
  account(usage: ModelUsage, costUsd: number): () => Transaction<void> {
    const { host, budgetId } = this.#scope;
    const limits = this.#limits;
    // Computed once, even if the transaction runs more than once.
    const activeMs = limits.maxWallClockMs === undefined ? 0 : host.budgets.takeUnrecordedMs(budgetId);
    return function* () {
      if (limits.maxTotalOutputTokens !== undefined && usage.outputTokens !== undefined) {
        yield* addUsage(budgetId, KEPT_AS.maxTotalOutputTokens, usage.outputTokens);
      }
      if (limits.maxCostUsd !== undefined && costUsd > 0)
        yield* addUsage(budgetId, KEPT_AS.maxCostUsd, costUsd);
      if (activeMs > 0) yield* addUsage(budgetId, KEPT_AS.maxWallClockMs, activeMs);
    };
  }
}

/** An unknown cost is an error, not 0: otherwise the budget would limit nothing. */
export function costOfAnswer(
  costOf: CostOf,
  model: string,
  usage: ModelUsage,
): { readonly costUsd: number; readonly problem?: ToolwrightError } {
  if (costOf === undefined) return { costUsd: 0 };
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 } = usage;
  try {
    const costUsd: unknown = costOf({ model, usage: { inputTokens, outputTokens, cachedInputTokens } });
    if (typeof costUsd === "number" && costUsd >= 0 && costUsd < Infinity) return { costUsd };
    return unknownCost(`returned ${describe(costUsd)}`);
  } catch (error) {
    return unknownCost(`threw: ${messageOf(error)}`);
  }
}

function unknownCost(how: string): { readonly costUsd: number; readonly problem: ToolwrightError } {
  const problem = refusal("costOf", `must return US dollars, a number of at least 0, but ${how}`);
  return { costUsd: 0, problem };
}

function stricter(one: Limits, other: Limits): Limits {
  const names = [...Object.keys(one), ...Object.keys(other)] as (keyof Limits)[];
  return Object.fromEntries(
    names.map((name) => [name, Math.min(one[name] ?? Infinity, other[name] ?? Infinity)]),
  );
}
