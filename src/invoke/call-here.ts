/** A call that is made without saying where: inside a call, inside a run, or outside any. */
import { assertNoForeignRun, getToolContext, nextToolSeq, otherCopyAround } from "../definition/context.ts";
import { OWN_COPY } from "../definition/package-copy.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { currentAmbient } from "./ambient.ts";
import { type CallOptions, innerScopeOf } from "./call.ts";
import { createDetachedScope } from "./detached.ts";
import { askWhetherPending, invoke, invokeDetached } from "./invoke.ts";
import type { Outcome } from "./outcome.ts";
import type { Scope } from "./scope.ts";

/** How the pipeline of a copy of the package is entered. A run is driven by the copy that opened it, and by no other. */
interface PipelineEntry {
  readonly scopeHere: typeof scopeHere;
  readonly callHere: typeof callHere;
  readonly needsApprovalHere: typeof needsApprovalHere;
}

OWN_COPY.entry = { scopeHere, callHere, needsApprovalHere } satisfies PipelineEntry;

function otherEntry(): PipelineEntry | undefined {
  return otherCopyAround()?.entry as PipelineEntry | undefined;
}

/** The scope in which a call made here counts: inside a call its own, else that of the run. */
export function scopeHere(): Scope | undefined {
  const other = otherEntry();
  if (other !== undefined) return other.scopeHere();
  const ambient = currentAmbient();
  if (ambient === undefined || ambient.scope.isDetached) return undefined;
  return ambient.attempt === undefined ? ambient.scope : innerScopeOf(ambient.attempt);
}

/** @throws TOOL_PACKAGE_CONFLICT inside a run of another version: outside of that run it would leave no record */
export async function callHere(spec: ToolSpec, args: unknown, options: CallOptions): Promise<Outcome> {
  assertNoForeignRun();
  const other = otherEntry();
  if (other !== undefined) return other.callHere(spec, args, options);
  const scope = scopeHere()?.turn(options.history?.turn ?? 1);
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
  assertNoForeignRun();
  const other = otherEntry();
  if (other !== undefined) return other.needsApprovalHere(spec, args, options);
  const scope = scopeHere()?.turn(options.history?.turn ?? 1);
  // Outside any run the call itself refuses, in words.
  return scope === undefined ? false : askWhetherPending(scope, spec, args, options);
}
