/**
 * Budgets of the run and of the tool. Counts are taken in the transaction that begins the call, so that parallel calls
 * cannot overshoot; sizes and costs are reserved by estimate before and settled after. What is refused consumes nothing.
 */
import { ToolwrightError } from "../../errors.ts";
import {
  addUsage,
  peekUsage,
  readReservations,
  readUsage,
  releaseReservation,
  reserve,
} from "../../store/usage.ts";
import type { Transaction } from "../../store/store.ts";
import type { Call } from "../call.ts";
import type { Limits } from "../host.ts";
import type { Result } from "../outcome.ts";
import { aborted, MustWait, type Policy, Refused, refuse } from "../policy.ts";

export const limit: Policy = (call, next) => {
  const limits = limitsOf(call);
  const isLimited = limits !== undefined || call.spec.maxExecutionsPerRun !== undefined;
  return isLimited && call.mode === "run" && !call.spec.isExempt ? limited(call, limits, next) : next();
};

async function limited(call: Call, limits: Limits | undefined, next: () => Promise<Result>): Promise<Result> {
  const runId = call.scope.budgetId;
  try {
    if (limits?.maxParallelTools !== undefined && call.scope.parent === undefined) {
      const free = await call.host.budgets.acquire(runId, limits.maxParallelTools, call.signal);
      // Given back when the outcome is on record: what it says about a breaker counts for the next in the queue.
      call.cleanups.push(free);
    }
    call.guards.set("limit", () => takeBudgets(call, limits ?? {}));
    // Handed out once, however often the transaction is run.
    let activeMs: number | undefined;
    const takeActiveMs = (): number =>
      (activeMs ??= call.host.budgets.takeUnrecordedMs(runId, call.host.clock.now()));
    call.settlers.set("limit", () => settleBudgets(call, limits ?? {}, takeActiveMs));
    return await next();
  } catch (error) {
    if (call.signal?.aborted === true && error === call.signal.reason) return aborted(call.signal);
    throw error;
  }
}

/** The stricter of the runtime's and the run's limits counts. */
export function limitsOf(call: Call): Limits | undefined {
  const { limits: ofRuntime } = call.host;
  const { limits: ofRun } = call.scope.root;
  const names = [...Object.keys(ofRuntime), ...Object.keys(ofRun)] as (keyof Limits)[];
  if (names.length === 0) return undefined;
  return Object.fromEntries(
    names.map((name) => [name, Math.min(ofRuntime[name] ?? Infinity, ofRun[name] ?? Infinity)] as const),
  );
}

function* takeBudgets(call: Call, limits: Limits): Transaction<void> {
  const runId = call.scope.budgetId;
  // A call that goes on, after an interruption or after an inner call was decided, was counted when it began.
  const isCounted = call.row?.status === "unknown" || (call.row?.waitsFor ?? null) !== null;
  if (!isCounted) {
    yield* takeCount(call, "maxToolCalls", "calls", limits.maxToolCalls);
    yield* takeCount(call, "maxExecutionsPerRun", `tool:${call.spec.name}`, call.spec.maxExecutionsPerRun);
  }
  yield* takeAmount(
    call,
    "maxTotalOutputBytes",
    limits.maxTotalOutputBytes,
    call.host.settings.maxOutputBytes,
  );
  yield* takeAmount(call, "maxCostUsd", limits.maxCostUsd, Infinity);
  if (limits.maxParallelTools !== undefined && call.scope.parent === undefined) {
    yield* takePlace(call, limits.maxParallelTools);
  }
  if (limits.maxWallClockMs !== undefined) {
    const { used } = yield* readUsage(runId, "maxWallClockMs");
    const left = limits.maxWallClockMs - used - call.host.budgets.unrecordedMs(runId, call.host.clock.now());
    if (left <= 0) throw exceeded(call, "maxWallClockMs", limits.maxWallClockMs);
    call.wallDeadlineMs = call.host.clock.now() + left;
  }
}

function* takeCount(call: Call, limitName: string, name: string, max: number | undefined): Transaction<void> {
  if (max === undefined) return;
  const runId = call.scope.budgetId;
  const { used } = yield* readUsage(runId, name);
  if (used + 1 > max) throw exceeded(call, limitName, max);
  yield* addUsage(runId, name, 1);
}

/**
 * Nobody knows beforehand how much a call will use. It reserves the most that this tool has used in this run, or, the
 * first time, `unknown`; while others hold reservations that might not leave enough, it waits for them to settle.
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
  const held = yield* readReservations(runId, name);
  // What the calls around this one hold, they hold for it as well.
  const own = keysAround(call);
  const reserved = held
    .filter(({ callKey }) => !own.has(callKey))
    .reduce((sum, { amount }) => sum + amount, 0);
  if (reserved > 0 && used + reserved + estimate > max) throw new MustWait("budget");
  yield* reserve(runId, name, { callKey: call.key, ownerId: call.host.ownerId, amount: estimate });
}

/** The call and those that it is made inside of. */
function keysAround(call: Call): ReadonlySet<string> {
  const keys = new Set<string>();
  for (let one: Call | undefined = call; one !== undefined; one = one.scope.parent) keys.add(one.key);
  return keys;
}

function* takePlace(call: Call, max: number): Transaction<void> {
  const runId = call.scope.budgetId;
  yield* readUsage(runId, "maxParallelTools");
  const held = yield* readReservations(runId, "maxParallelTools");
  if (held.filter(({ callKey }) => callKey !== call.key).length >= max) throw new MustWait("budget");
  yield* reserve(runId, "maxParallelTools", { callKey: call.key, ownerId: call.host.ownerId, amount: 1 });
}

function* settleBudgets(call: Call, limits: Limits, takeActiveMs: () => number): Transaction<void> {
  const runId = call.scope.budgetId;
  const { spec } = call;
  if (limits.maxParallelTools !== undefined) yield* releaseReservation(runId, "maxParallelTools", call.key);
  const outputBytes = call.outputJson === undefined ? 0 : Buffer.byteLength(call.outputJson);
  const amounts = { maxTotalOutputBytes: outputBytes, maxCostUsd: call.costUsd } as const;
  for (const name of ["maxTotalOutputBytes", "maxCostUsd"] as const) {
    if (limits[name] === undefined) continue;
    yield* releaseReservation(runId, name, call.key);
    yield* addUsage(runId, name, amounts[name]);
    yield* addUsage(runId, `${name}:${spec.name}`, amounts[name]);
  }
  if (limits.maxWallClockMs !== undefined) {
    yield* addUsage(runId, "maxWallClockMs", takeActiveMs());
  }
}

export function exceeded(call: Call, name: string, max: number): Refused {
  const whose = name === "maxExecutionsPerRun" ? `Tool "${call.spec.name}"` : "The run";
  return new Refused(
    refuse(
      new ToolwrightError(
        "TOOL_LIMIT_EXCEEDED",
        `${whose} has used up its budget ${name} of ${max}; "${call.spec.name}" was not run.`,
        {
          details: { tool: call.spec.name, limit: name, max },
          effect: "none",
        },
      ),
    ),
  );
}
