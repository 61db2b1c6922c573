/** A call that is made without saying where: inside a call, inside a run, or outside any. */
import {
  assertNoForeignRun,
  getToolContext,
  nextToolSeq,
  otherCopyAround,
  type ToolContext,
} from "../definition/context.ts";
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

/**
 * A copy of a tool with another `execute` calls the original inside of it: that is the same call, with one row, one key
 * and one approval. `undefined` where it is another call.
 */
export function callOwnExecute(spec: ToolSpec, args: unknown): Promise<unknown> | undefined {
  const attempt = currentAmbient()?.attempt;
  const copy = attempt?.call.spec;
  if (attempt === undefined || copy?.wraps !== true || !isInside(spec, copy)) return undefined;
  const own = spec === copy ? (spec.base ?? spec) : spec;
  return attempt.takeOwnExecute(own) ? runBase(own, args) : undefined;
}

/** Whether all that guards the one guards the copy as well. */
function isInside(spec: ToolSpec, copy: ToolSpec): boolean {
  for (let base: ToolSpec | undefined = copy; base !== undefined; base = base.base) {
    if (base === spec) return true;
  }
  if (rootOf(spec) !== rootOf(copy) || spec.name !== copy.name) return false;
  const around: Readonly<Record<string, unknown>> = { ...copy.options };
  return Object.entries(spec.options).every(([name, policy]) => around[name] === policy);
}

function rootOf(spec: ToolSpec): ToolSpec {
  return spec.base === undefined ? spec : rootOf(spec.base);
}

async function runBase(spec: ToolSpec, args: unknown): Promise<unknown> {
  const input: unknown = spec.parsesInput ? args : await spec.schema.parseAsync(args);
  const value: unknown = await spec.execute(input, getToolContext() as ToolContext<object>);
  if (typeof value !== "object" || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (const item of value as AsyncIterable<unknown>) last = item;
  return last;
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
