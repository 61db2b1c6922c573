/**
 * Leaves a tool alone that keeps failing: for the rest of the run, or, when shared, for all runs on the store until a
 * probe succeeds. A call that has not started when it opens is refused, and so is the next try of one that has.
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
import { MustWait, type Policy, Refused, refuse } from "../policy.ts";

const DEFAULT_RESET_MS = 60_000;
/** About a second. Counted, not timed: while this process is stopped or starved, so are the calls it waits for. */
const MOST_WAITS = 60;

export const breaker: Policy = (call, next) =>
  call.spec.retry.circuitBreakerThreshold === undefined ? next() : guarded(call, next);

async function guarded(call: Call, next: () => Promise<Result>): Promise<Result> {
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
  return next();
}

/** Answers whether the breaker is open for this call now. */
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
  // Times that lie ahead were stored by a clock that was set back since: they must not keep the tool off for the difference.
  const openMs = now - row.openedAtMs;
  const isDue = openMs >= resetMs || openMs < -SKEW_MS;
  const probeLeftMs = (row.probeUntilMs ?? now) - now;
  const isProbing = probeLeftMs > 0 && probeLeftMs <= resetMs + SKEW_MS;
  return isDue && !isProbing ? "probe" : "open";
}

/**
 * In the transaction that begins the call, so that no call slips past one that opens the breaker. Once the tool has
 * failed, a call waits a moment for those in flight whose failure would open it: calls made together fail together.
 */
function* passOrRefuse(call: Call): Transaction<void> {
  const scope = scopeOf(call);
  const row = yield* lockBreaker(scope, call.spec.name);
  const state = stateOf(call, row);
  call.isProbe = false;
  if (state === "closed") {
    const { failures = 0 } = row ?? {};
    // The calls around this one cannot end before it.
    const own = keysAround(call);
    const held = yield* readReservations(scope, placeName(call));
    const others = held.filter(({ callKey }) => !own.has(callKey));
    const threshold = call.spec.retry.circuitBreakerThreshold ?? Infinity;
    // Not for long: one slow call must not hold up all others.
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
  yield* reserve(scope, placeName(call), { callKey: call.key, ownerId: call.host.ownerId, amount: 1 });
}

function placeName(call: Call): string {
  return `breaker:${call.spec.name}`;
}

/** Answers whether this failure opens it. */
function* count(call: Call, result: Result): Transaction<boolean> {
  const scope = scopeOf(call);
  yield* releaseReservation(scope, placeName(call), call.key);
  if (result.kind === "success") {
    yield* countSuccess(scope, call.spec.name, call.isProbe);
    return false;
  }
  // Only what the tool itself failed at counts: neither waiting nor being cut off does.
  if (result.kind !== "error") return false;
  const threshold = call.spec.retry.circuitBreakerThreshold ?? Infinity;
  return (yield* countFailure(scope, call.spec.name, threshold, call.host.clock.now())).opened;
}

/** Says for how long: in a run nothing closes it again, a shared one lets a probe through after `resetMs`. */
function openError({ spec }: Call): ToolwrightError {
  const {
    circuitBreakerThreshold: threshold = 1,
    breaker: { scope = "run", resetMs = DEFAULT_RESET_MS } = {},
  } = spec.retry;
  const times = threshold === 1 ? "once" : `${threshold} times in a row`;
  const isShared = scope === "shared";
  const until = isShared
    ? `in all runs, until a call succeeds again ${resetMs} ms later`
    : "for the rest of the run";
  return new ToolwrightError(
    "TOOL_CIRCUIT_OPEN",
    `Tool "${spec.name}" failed ${times}, so its circuit breaker is open ${until}. Nothing was run.`,
    {
      details: { tool: spec.name, threshold, scope, ...(isShared ? { resetMs } : {}) },
      ...(isShared ? { hint: `Find another way, or call it again after ${resetMs} ms.` } : {}),
      effect: "none",
    },
  );
}
