/** The calls whose approval a loop has already checked with the tool's own `needsApproval`. */
import type { Scope } from "../invoke/scope.ts";

const asked = new WeakMap<Scope, Set<string>>();

export function noteApprovalCheck(scope: Scope | undefined, toolCallId: string | undefined): void {
  if (scope === undefined || toolCallId === undefined) return;
  const ids = asked.get(scope) ?? new Set();
  asked.set(scope, ids.add(toolCallId));
}

export function hasApprovalCheck(scope: Scope, toolCallId: string): boolean {
  return asked.get(scope)?.has(toolCallId) === true;
}
