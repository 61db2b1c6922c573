/** A call that is made without saying where: inside a call, inside a run, or outside any. */
import { getToolContext, nextToolSeq } from "../definition/context.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { currentAmbient } from "./ambient.ts";
import { type CallOptions, innerScopeOf } from "./call.ts";
import { createDetachedScope } from "./detached.ts";
import { askWhetherPending, invoke, invokeDetached } from "./invoke.ts";
import type { Outcome } from "./outcome.ts";
import type { Scope } from "./scope.ts";

/** The scope in which a call made here counts: inside a call its own, else that of the run. */
export function scopeHere(): Scope | undefined {
  const ambient = currentAmbient();
  if (ambient === undefined || ambient.scope.isDetached) return undefined;
  return ambient.attempt === undefined ? ambient.scope : innerScopeOf(ambient.attempt);
}

export async function callHere(spec: ToolSpec, args: unknown, options: CallOptions): Promise<Outcome> {
  const scope = scopeHere();
  if (scope === undefined) {
    const context = getToolContext();
    const seq = context === undefined ? 1 : nextToolSeq(context);
    return invokeDetached(createDetachedScope(context), spec, args, { ...options, seq });
  }
  return invoke(scope, spec, args, options);
}

export async function needsApprovalHere(
  spec: ToolSpec,
  args: unknown,
  options: CallOptions,
): Promise<boolean> {
  const scope = scopeHere();
  // Outside any run the call itself refuses, in words.
  return scope === undefined ? false : askWhetherPending(scope, spec, args, options);
}
