/**
 * The circuit breaker: refuses calls of a tool that keeps failing, for the rest of the run, or, if shared, in all runs on the
 * store until a probe succeeds. While it is open it refuses new calls, and further tries of calls that have begun.
 */
import { ToolwrightError } from "../../errors.ts";
import {
  type BreakerRow,
  countFailure,
  countSuccess,
  lockBreaker,
  readBreaker,
  takeProbe,
} from "../../store/tables/breakers.ts";
import type { Transaction } from "../../store/store.ts";
import { SKEW_MS } from "../../util/clock.ts";
import { readReservations, releaseReservation, reserve } from "../../store/tables/usage.ts";
import { addGuard, addSettler, type Call, keysAround, emit } from "../call.ts";
import type { Result } from "../outcome.ts";
import { MustWait, type Policy, Refused, refuse, type Next } from "../policy.ts";

const DEFAULT_RESET_MS = 60_000;
/** About a second. Counted and not timed: if this process is stopped, so are the calls that it waits for. */
const MOST_WAITS = 60;

export const breaker: Policy = (call, next) =>
  call.spec.retry.circuitBreakerThreshold === undefined ? next(call) : guarded(call, next);

async function guarded(call: Call, next: Next): Promise<Result> {
  const refusal = await refusalOfBreaker(call);
  if (refusal !== undefined) return refusal;
  addGuard(call, "breaker", () => passOrRefuse(call));
  let hasOpened = false;
  addSettler(call, "breaker", function* (result) {
    hasOpened = yield* count(call, result);
  });
  call.cleanups.push(() => {
    if (hasOpened) emit(call, { type: "breaker-opened" });
  });
  return next(call);
}

/** The refusal, if the breaker is open for this call now. */
export async function refusalOfBreaker(call: Call): Promise<Result | undefined> {
  if (call.spec.retry.circuitBreakerThreshold === undefined || call.scope.isDetached) return undefined;
  const row = await call.host.store.read(() => readBreaker(scopeOf(call), call.spec.name));
  return stateOf(call, row) === "open" ? refuse(openError(call)) : undefined;
}

function scopeOf(call: Call): string {
  return call.spec.retry.breaker?.scope === "shared" ? "" : call.scope.budgetId;
}

function stateOf(call: Call, row: BreakerRow | undefined): "closed" | "open" | "probe" {
  if (row?.openedAtMs === null || row === undefined) return "closed";
  if (call.spec.retry.breaker?.scope !== "shared") return "open";
  const now = call.host.clock.now();
  const resetMs = call.spec.retry.breaker.resetMs ?? DEFAULT_RESET_MS;
  // A time in the future means that the clock was set back since: the breaker must not stay open for the difference.
  const openMs = now - row.openedAtMs;
  const isDue = openMs >= resetMs || openMs < -SKEW_MS;
  const probeLeftMs = (row.probeUntilMs ?? now) - now;
  const isProbing = probeLeftMs > 0 && probeLeftMs <= resetMs + SKEW_MS;
  return isDue && !isProbing ? "probe" : "open";
}

/**
 * Runs in the transaction that begins the call, so that no call begins after another one opened the breaker. Once the tool
 * has failed, a call waits briefly for calls in flight whose failure would open it: parallel calls often fail together.
 */
function* passOrRefuse(call: Call): Transaction<void> {
  const scope = scopeOf(call);
  const row = yield* lockBreaker(scope, call.spec.name);
  const state = stateOf(call, row);
  call.isProbe = false;
  if (state === "closed") {
    const { failures = 0 } = row ?? {};
    // Enclosing calls cannot end before this one.
    const own = keysAround(call);
    const held = yield* readReservations(scope, reservationName(call));
    const others = held.filter(({ callKey }) => !own.has(callKey));
    const threshold = call.spec.retry.circuitBreakerThreshold ?? Infinity;
    // Not for long: one slow call must not block all others.
    const mayWait = call.breakerWaits < MOST_WAITS;
    if (failures > 0 && failures + others.length >= threshold && mayWait)
      throw new MustWait({ what: "breaker" });
  } else {
    const now = call.host.clock.now();
    const resetMs = call.spec.retry.breaker?.resetMs ?? DEFAULT_RESET_MS;
    const probes =
      state === "probe" ? yield* takeProbe(scope, call.spec.name, now, Math.ceil(now + resetMs)) : 0;
    if (probes === 0) throw new Refused(refuse(openError(call)));
    call.isProbe = true;
  }
  yield* reserve(scope, reservationName(call), { callKey: call.key, ownerId: call.host.ownerId, amount: 1 });
}

function reservationName(call: Call): string {
  return `breaker:${call.spec.name}`;
}

/** Returns whether this failure opens the breaker. */
function* count(call: Call, result: Result): Transaction<boolean> {
  const scope = scopeOf(call);
  yield* releaseReservation(scope, reservationName(call), call.key);
  if (result.kind === "success") {
    yield* countSuccess(scope, call.spec.name, call.isProbe);
    return false;
  }
  // Only failures of the tool itself count, not pending or interrupted calls.
  if (result.kind !== "error") return false;
  const threshold = call.spec.retry.circuitBreakerThreshold ?? Infinity;
  return (yield* countFailure(scope, call.spec.name, threshold, call.host.clock.now())).opened;
}

/** Says for how long: a run's breaker never closes again, and a shared one lets a probe through after `resetMs`. */
function openError({ spec }: Call): ToolwrightError {
  const {
    circuitBreakerThreshold: threshold = 1,
    breaker: { scope = "run", resetMs = DEFAULT_RESET_MS } = {},
  } = spec.retry;
  const times = threshold === 1 ? "once" : `${threshold} times in a row`;
  const isShared = scope === "shared";
  const until = isShared
    ? `in all runs until a probe succeeds, at the earliest ${resetMs} ms later`
    : "for the rest of the run";
  return new ToolwrightError(
    "TOOL_CIRCUIT_OPEN",
    `Tool "${spec.name}" failed ${times}, so its circuit breaker is open ${until}. Nothing was run.`,
    {
      details: { tool: spec.name, threshold, scope, ...(isShared ? { resetMs } : {}) },
      ...(isShared ? { hint: `Use another approach, or call it again after ${resetMs} ms.` } : {}),
      effect: "none",
    },
  );
}
