/** Makes a call in the current context: inside a call, inside a run, or outside any run. */
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
import { checkWhetherPending, invoke, invokeDetached } from "./invoke.ts";
import type { Outcome } from "./outcome.ts";
import type { Scope } from "./scope.ts";

/** The entry to the pipeline of a copy of the package. Only the copy that opened a run drives it. */
interface PipelineEntry {
  readonly currentScope: typeof currentScope;
  readonly callInContext: typeof callInContext;
  readonly needsApprovalInContext: typeof needsApprovalInContext;
}

OWN_COPY.entry = { currentScope, callInContext, needsApprovalInContext } satisfies PipelineEntry;

function otherEntry(): PipelineEntry | undefined {
  return otherCopyAround()?.entry as PipelineEntry | undefined;
}

/** The scope of a call that is made here: inside a call its inner scope, else the scope of the run. */
export function currentScope(): Scope | undefined {
  const other = otherEntry();
  if (other !== undefined) return other.currentScope();
  const ambient = currentAmbient();
  if (ambient === undefined || ambient.scope.isDetached) return undefined;
  return ambient.ofTry === undefined ? ambient.scope : innerScopeOf(ambient.ofTry);
}

/** @throws TOOL_PACKAGE_CONFLICT inside a run of another version, which could not log the call */
export async function callInContext(spec: ToolSpec, args: unknown, options: CallOptions): Promise<Outcome> {
  assertNoForeignRun();
  const other = otherEntry();
  if (other !== undefined) return other.callInContext(spec, args, options);
  const scope = currentScope()?.turn(options.history?.turn ?? 1);
  if (scope === undefined) {
    const context = getToolContext();
    const seq = context === undefined ? 1 : nextToolSeq(context);
    return invokeDetached(createDetachedScope(context), spec, args, { ...options, seq });
  }
  return invoke(scope, spec, args, options);
}

/**
 * A modified copy of a tool may call the original in its own `execute`. That is the same call, with one row, one key and one
 * approval. `undefined` if it is another call.
 */
export function callOwnExecute(spec: ToolSpec, args: unknown): Promise<unknown> | undefined {
  const ofTry = currentAmbient()?.ofTry;
  const copy = ofTry?.call.spec;
  if (ofTry === undefined || copy?.wraps !== true || !isInside(spec, copy)) return undefined;
  const own = spec === copy ? (spec.base ?? spec) : spec;
  return ofTry.takeOwnExecute(own) ? runBase(own, args) : undefined;
}

/** Whether every policy of the tool also applies to the copy. */
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

export async function needsApprovalInContext(
  spec: ToolSpec,
  args: unknown,
  options: CallOptions,
): Promise<boolean> {
  assertNoForeignRun();
  const other = otherEntry();
  if (other !== undefined) return other.needsApprovalInContext(spec, args, options);
  const scope = currentScope()?.turn(options.history?.turn ?? 1);
  // Outside any run the call itself refuses with TOOL_APPROVAL_REQUIRED.
  return scope === undefined ? false : checkWhetherPending(scope, spec, args, options);
}
