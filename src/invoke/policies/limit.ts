/**
 * The limits of the run and of the tool. Counts are spent in the transaction that begins the call, so that parallel calls
 * cannot exceed them. Sizes and costs are reserved by estimate and settled at the end. A refused call spends nothing.
 */
import { ToolwrightError } from "../../errors.ts";
import {
  addUsage,
  peekUsage,
  readReservations,
  readUsage,
  releaseReservation,
  type Reservation,
  reserve,
} from "../../store/tables/usage.ts";
import type { Transaction } from "../../store/store.ts";
import { addGuard, addSettler, type Call, callsAround, keysAround } from "../call.ts";
import type { Limits } from "../host.ts";
import type { Result } from "../outcome.ts";
import { MustWait, type Policy, Refused, refuse, type Next } from "../policy.ts";
import { COST, Spending } from "../spending.ts";

export const limit: Policy = (call, next) => {
  const limits = limitsOf(call);
  const isLimited = limits !== undefined || call.spec.maxExecutionsPerRun !== undefined;
  return isLimited && call.mode === "run" && !call.spec.isExempt
    ? limited(call, limits ?? {}, next)
    : next(call);
};

async function limited(call: Call, limits: Limits, next: Next): Promise<Result> {
  const { budgets } = call.host;
  const { budgetId } = call.scope;
  // Freed after the outcome is stored: the next call in the queue must see the state of the breaker.
  call.cleanups.push(() => budgets.freeSlot(call));
  const spending = limits.maxCostUsd === undefined ? undefined : new Spending(call);
  call.spending = spending;
  const beginMs = new Once(() => budgets.takeUnrecordedMs(budgetId));
  const endMs = new Once(() => budgets.takeUnrecordedMs(budgetId));
  const unstoredUsd = new Once(() => spending?.takeUnstoredUsd() ?? 0);
  addGuard(call, "limit", () => takeBudgets(call, limits, beginMs));
  addSettler(call, "limit", () => settleBudgets(call, limits, endMs, unstoredUsd));
  try {
    const result = await next(call);
    await spending?.whenStored();
    return result;
  } finally {
    if (!call.begun) budgets.giveBackMs(budgetId, beginMs.value ?? 0);
  }
}

/** A value that is taken once, however often the transaction that stores it runs. */
class Once {
  readonly #take: () => number;
  value: number | undefined;

  constructor(take: () => number) {
    this.#take = take;
  }

  take(): number {
    return (this.value ??= this.#take());
  }
}

/** For each limit, the stricter of the runtime's and the run's. */
export function limitsOf(call: Call): Limits | undefined {
  const { limits: ofRuntime } = call.host;
  const { limits: ofRun } = call.scope.root;
  if (isEmpty(ofRuntime) && isEmpty(ofRun)) return undefined;
  const names = [...Object.keys(ofRuntime), ...Object.keys(ofRun)] as (keyof Limits)[];
  return Object.fromEntries(
    names.map((name) => [name, Math.min(ofRuntime[name] ?? Infinity, ofRun[name] ?? Infinity)] as const),
  );
}

/** Creates no array: every call asks. */
function isEmpty(limits: Limits): boolean {
  for (const _name in limits) return false;
  return true;
}

/** Checks that can refuse the call come first: a call must not wait for a slot and then be refused. */
function* takeBudgets(call: Call, limits: Limits, activeMs: Once): Transaction<void> {
  if (limits.maxWallClockMs !== undefined) yield* takeTime(call, limits.maxWallClockMs, activeMs);
  // Every other entry counts, even if the process was killed in it.
  if (!call.isReentry) {
    yield* takeCount(call, "maxToolCalls", "calls", limits.maxToolCalls);
    yield* takeCount(call, "maxExecutionsPerRun", `tool:${call.spec.name}`, call.spec.maxExecutionsPerRun);
  }
  const { maxOutputBytes } = call.host.settings;
  yield* takeAmount(call, "maxTotalOutputBytes", limits.maxTotalOutputBytes, maxOutputBytes);
  yield* takeAmount(call, "maxCostUsd", limits.maxCostUsd, Infinity);
  if (limits.maxParallelTools !== undefined && !isInsideRun(call)) {
    yield* takeSlot(call, limits.maxParallelTools);
  }
}

/** A call inside another call of the same run shares its slot. */
function isInsideRun(call: Call): boolean {
  return [...callsAround(call)].some(({ scope }) => scope.budgetId === call.scope.budgetId);
}

/** Stores the active time with the intent, so that it counts even if the process dies. */
function* takeTime(call: Call, max: number, activeMs: Once): Transaction<void> {
  const { host, scope } = call;
  const { used } = yield* readUsage(scope.budgetId, "maxWallClockMs");
  const left = max - used - activeMs.take() - host.budgets.unrecordedMs(scope.budgetId);
  if (left <= 0) throw exceeded(call, "maxWallClockMs", max);
  yield* addUsage(scope.budgetId, "maxWallClockMs", activeMs.take());
  host.budgets.markTimed(scope.budgetId);
  call.wallDeadlineMs = host.clock.monotonic() + left;
}

function* takeCount(call: Call, limitName: string, name: string, max: number | undefined): Transaction<void> {
  if (max === undefined) return;
  const runId = call.scope.budgetId;
  const { used } = yield* readUsage(runId, name);
  if (used + 1 > max) throw exceeded(call, limitName, max);
  yield* addUsage(runId, name, 1);
}

/**
 * The usage of a call is not known in advance. It reserves the most that this tool has used in this run, or `unknown` the
 * first time. While the reservations of others might not leave enough, it waits for them.
 */
function* takeAmount(
  call: Call,
  name: "maxTotalOutputBytes" | "maxCostUsd",
  max: number | undefined,
  unknown: number,
): Transaction<void> {
  if (max === undefined) return;
  const runId = call.scope.budgetId;
  const { used } = yield* readUsage(runId, name);
  if (used >= max) throw exceeded(call, name, max);
  const ofTool = yield* peekUsage(runId, `${name}:${call.spec.name}`);
  const estimate = Math.min(ofTool?.peak ?? unknown, max);
  const others = othersOf(call, yield* readReservations(runId, name));
  const reserved = others.reduce((sum, { amount }) => sum + amount, 0);
  if (reserved > 0 && used + reserved + estimate > max) mustWait(call, others);
  yield* reserve(runId, name, { callKey: call.key, ownerId: call.host.ownerId, amount: estimate });
}

/** In the store for all processes, and in memory for an ordered queue. */
function* takeSlot(call: Call, max: number): Transaction<void> {
  const runId = call.scope.budgetId;
  yield* readUsage(runId, "maxParallelTools");
  const others = othersOf(call, yield* readReservations(runId, "maxParallelTools"));
  if (!call.mustNotWait && !call.host.budgets.tryTakeSlot(call, max)) {
    throw new MustWait({ what: "slot", max });
  }
  if (others.length >= max) mustWait(call, others);
  yield* reserve(runId, "maxParallelTools", { callKey: call.key, ownerId: call.host.ownerId, amount: 1 });
}

/** The reservations of other calls. A call shares those of its enclosing calls. */
function othersOf(call: Call, held: readonly Reservation[]): readonly Reservation[] {
  const own = keysAround(call);
  return held.filter(({ callKey }) => !own.has(callKey));
}

function mustWait(call: Call, others: readonly Reservation[]): void {
  if (call.mustNotWait) return;
  throw new MustWait({ what: "budget", holders: others.map(({ callKey }) => callKey) });
}

/** In the order of `takeBudgets`: transactions that lock the same rows in two orders deadlock on PostgreSQL. */
function* settleBudgets(call: Call, limits: Limits, activeMs: Once, unstoredUsd: Once): Transaction<void> {
  const runId = call.scope.budgetId;
  const { spec } = call;
  if (limits.maxWallClockMs !== undefined) yield* addUsage(runId, "maxWallClockMs", activeMs.take());
  if (limits.maxParallelTools !== undefined) yield* releaseReservation(runId, "maxParallelTools", call.key);
  if (limits.maxTotalOutputBytes !== undefined) {
    const bytes = call.outputJson === undefined ? 0 : Buffer.byteLength(call.outputJson);
    yield* releaseReservation(runId, "maxTotalOutputBytes", call.key);
    yield* addUsage(runId, "maxTotalOutputBytes", bytes);
    yield* addUsage(runId, `maxTotalOutputBytes:${spec.name}`, bytes);
  }
  if (limits.maxCostUsd !== undefined) {
    yield* releaseReservation(runId, COST, call.key);
    yield* addUsage(runId, COST, unstoredUsd.take());
    yield* addUsage(runId, `${COST}:${spec.name}`, call.costUsd);
  }
}

export function exceeded(call: Call, name: string, max: number): Refused {
  const whose = name === "maxExecutionsPerRun" ? `Tool "${call.spec.name}"` : "The run";
  return new Refused(
    refuse(
      new ToolwrightError(
        "TOOL_LIMIT_EXCEEDED",
        `${whose} exceeded its limit: ${name} is ${max}. "${call.spec.name}" was not run.`,
        {
          details: { tool: call.spec.name, limit: name, max },
          effect: "none",
        },
      ),
    ),
  );
}
