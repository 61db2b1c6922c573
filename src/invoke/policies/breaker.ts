/**
 * Leaves a tool alone that keeps failing: for the rest of the run, or, when shared, for all runs on the store until a
 * probe succeeds. A call that has not started when it opens is refused, and so is the next try of one that has.
 */
import { ToolwrightError } from "../../errors.ts";
import { countFailure, countSuccess, readBreaker, takeProbe } from "../../store/breakers.ts";
import type { Transaction } from "../../store/store.ts";
import { type Call, tell } from "../call.ts";
import type { Result } from "../outcome.ts";
import { type Policy, Refused, refuse } from "../policy.ts";

const DEFAULT_RESET_MS = 60_000;

export const breaker: Policy = (call, next) =>
  call.spec.retry.circuitBreakerThreshold === undefined ? next() : guarded(call, next);

async function guarded(call: Call, next: () => Promise<Result>): Promise<Result> {
  const refusal = await refusalOfBreaker(call);
  if (refusal !== undefined) return refusal;
  call.guards.set("breaker", () => passOrRefuse(call));
  call.settlers.set("breaker", (result) => count(call, result));
  return next();
}

/** Answers whether the breaker is open for this call now. */
export async function refusalOfBreaker(call: Call): Promise<Result | undefined> {
  if (call.spec.retry.circuitBreakerThreshold === undefined || call.scope.identity.runId === "")
    return undefined;
  const state = await call.host.store.read(() => readState(call));
  return state === "open" ? refuse(openError(call)) : undefined;
}

function scopeOf(call: Call): string {
  return call.spec.retry.breaker?.scope === "shared" ? "" : call.scope.identity.runId;
}

function* readState(call: Call): Transaction<"closed" | "open" | "probe"> {
  const row = yield* readBreaker(scopeOf(call), call.spec.name);
  if (row?.openedAtMs === null || row === undefined) return "closed";
  if (call.spec.retry.breaker?.scope !== "shared") return "open";
  const now = call.host.clock.now();
  const resetMs = call.spec.retry.breaker.resetMs ?? DEFAULT_RESET_MS;
  const isProbing = row.probeUntilMs !== null && row.probeUntilMs > now;
  return now - row.openedAtMs >= resetMs && !isProbing ? "probe" : "open";
}

/** In the transaction that begins the call, so that no call slips past one that opens the breaker. */
function* passOrRefuse(call: Call): Transaction<void> {
  const state = yield* readState(call);
  if (state === "closed") return;
  const now = call.host.clock.now();
  const resetMs = call.spec.retry.breaker?.resetMs ?? DEFAULT_RESET_MS;
  const probes = state === "probe" ? yield* takeProbe(scopeOf(call), call.spec.name, now, now + resetMs) : 0;
  if (probes === 0) throw new Refused(refuse(openError(call)));
}

function* count(call: Call, result: Result): Transaction<void> {
  if (result.kind === "success") {
    yield* countSuccess(scopeOf(call), call.spec.name);
    return;
  }
  // Only what the tool itself failed at counts: neither waiting nor being cut off does.
  if (result.kind !== "error") return;
  const threshold = call.spec.retry.circuitBreakerThreshold ?? Infinity;
  const { opened } = yield* countFailure(scopeOf(call), call.spec.name, threshold, call.host.clock.now());
  if (opened) call.cleanups.push(() => tell(call, { type: "breaker-opened" }));
}

function openError(call: Call): ToolwrightError {
  return new ToolwrightError(
    "TOOL_CIRCUIT_OPEN",
    `Tool "${call.spec.name}" failed ${call.spec.retry.circuitBreakerThreshold} times in a row and is switched off for now.`,
    { details: { tool: call.spec.name, threshold: call.spec.retry.circuitBreakerThreshold }, effect: "none" },
  );
}
