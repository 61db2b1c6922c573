/**
 * Whether the limits of the run or of the tool would refuse a call now. Only reads: the transaction that begins the call
 * decides and spends.
 */
import { peekUsage } from "../../store/tables/usage.ts";
import type { Transaction } from "../../store/store.ts";
import type { Call } from "../call.ts";
import type { Result } from "../outcome.ts";
import { exceeded, limitsOf } from "./limit.ts";

export async function refusalOfLimits(call: Call): Promise<Result | undefined> {
  const { spec, scope, host } = call;
  if (spec.isExempt || scope.isDetached) return undefined;
  const limits = limitsOf(call) ?? {};
  const runId = scope.budgetId;
  const budgets = [
    { name: "maxToolCalls", usage: "calls", max: limits.maxToolCalls, needs: 1 },
    {
      name: "maxExecutionsPerRun",
      usage: `tool:${spec.name}`,
      max: spec.maxExecutionsPerRun,
      needs: 1,
    },
    { name: "maxTotalOutputBytes", usage: "maxTotalOutputBytes", max: limits.maxTotalOutputBytes, needs: 0 },
    { name: "maxCostUsd", usage: "maxCostUsd", max: limits.maxCostUsd, needs: 0 },
    { name: "maxWallClockMs", usage: "maxWallClockMs", max: limits.maxWallClockMs, needs: 0 },
  ].flatMap(({ max, ...budget }) => (max === undefined ? [] : [{ ...budget, max }]));
  if (budgets.length === 0) return undefined;
  const spentMs = host.budgets.unrecordedMs(runId);
  const spent = await host.store.read(function* (): Transaction<(typeof budgets)[number] | undefined> {
    for (const budget of budgets) {
      const used = (yield* peekUsage(runId, budget.usage))?.used ?? 0;
      const total = budget.name === "maxWallClockMs" ? used + spentMs : used;
      if (budget.needs === 0 ? total >= budget.max : total + budget.needs > budget.max) return budget;
    }
    return undefined;
  });
  return spent === undefined ? undefined : exceeded(call, spent.name, spent.max).result;
}
