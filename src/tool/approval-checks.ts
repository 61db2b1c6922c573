/** The calls whose approval a loop has already checked with the tool's own `needsApproval`, and those that it paused for. */
import { sharedByCopies } from "../definition/package-copy.ts";
import type { Scope } from "../invoke/scope.ts";

// One copy of the package may check the approval, and the telemetry of another observe the loop.
const asked = sharedByCopies("asked calls.1", () => new WeakMap<Scope, Set<string>>());
const paused = sharedByCopies("paused calls.1", () => new WeakMap<Scope, Set<string>>());
const driven = sharedByCopies("driven loops.1", () => new WeakSet<Scope>());

export function noteApprovalCheck(scope: Scope | undefined, toolCallId: string | undefined): void {
  if (scope === undefined || toolCallId === undefined) return;
  const ids = asked.get(scope) ?? new Set();
  asked.set(scope, ids.add(toolCallId));
}

export function hasApprovalCheck(scope: Scope, toolCallId: string): boolean {
  return asked.get(scope)?.has(toolCallId) === true;
}

export function notePause(scope: Scope, toolCallId: string): void {
  const ids = paused.get(scope) ?? new Set();
  paused.set(scope, ids.add(toolCallId));
}

export function hasPaused(scope: Scope, toolCallId: string): boolean {
  return paused.get(scope)?.has(toolCallId) === true;
}

/**
 * The loop of this scope is driven here, and the requests of its result are stored when it has paused. Telemetry leaves them to
 * that: the SDK may report them later than it ends, and equal calls would change places.
 */
export function noteDriven(scope: Scope): void {
  driven.add(scope);
}

export function isDriven(scope: Scope): boolean {
  return driven.has(scope);
}
