/**
 * Reverts effects, newest first and one at a time. Each revert is a call with its own key. A revert that fails does
 * not stop the older ones.
 */
import type { ToolSettings } from "../../definition/tool-settings.ts";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import type { RunKind } from "../../invoke/events.ts";
import type { Host } from "../../invoke/host.ts";
import { invoke } from "../../invoke/invoke.ts";
import type { Outcome } from "../../invoke/outcome.ts";
import { Scope } from "../../invoke/scope.ts";
import type { Transaction } from "../../store/store.ts";
import { approvalOfCall } from "../../store/tables/approvals.ts";
import { findScope, releaseScope, type ScopeRow } from "../../store/tables/scopes.ts";
import { takeScopeFor } from "../take-scope.ts";
import { type Definition, findDefinition } from "./find-definition.ts";
import { type PlannedRevert, revertIdentity } from "./plan-reverts.ts";
import { type RevertGroup, type RevertReport, RevertReportBuilder } from "./revert-report.ts";
import { toRevertTool } from "./revert-tool.ts";

export interface RevertRun {
  readonly runId: string;
  readonly kind: RunKind;
  /** Where its files are. `null`: anywhere. */
  readonly machine: string | null;
  readonly settings: Partial<ToolSettings>;
  readonly signal?: AbortSignal | undefined;
  /** Runs in the transaction that takes the reverts for this process. Throws if this process must not revert the run. */
  readonly guard: () => Transaction<void>;
  readonly builtIn: ReadonlyMap<string, ToolSpec>;
}

/** @throws TOOL_RUN_CONFLICT if another process reverts the run, and errors of the store */
export async function runReverts(
  host: Host,
  run: RevertRun,
  plan: () => Promise<readonly PlannedRevert[]>,
): Promise<RevertReport> {
  const { runId, kind, settings, signal } = run;
  const identity = revertIdentity(runId);
  const earlier = await host.store.read(() => findScope(identity));
  // Each revert is another attempt: what has failed is tried again, what succeeded is not.
  const attempt = (earlier?.attempt ?? 0) + 1;
  // As a task of a workflow: the run keeps its status.
  const start = { kind: "workflow", name: "" } as const;
  const taken = await takeScopeFor(host, identity, attempt, start, () => undefined, run.guard);
  try {
    const owned = Promise.resolve(taken);
    const scope = new Scope(host, { identity, attempt, kind, settings, signal, owned });
    await scope.ready;
    const report = new RevertReportBuilder();
    for (const planned of await plan()) {
      signal?.throwIfAborted();
      await revertOne(host, run, scope, planned, report);
    }
    return report.build(runId, false);
  } finally {
    await release(host, taken);
  }
}

/** What `runReverts` would do. */
export async function previewReverts(
  host: Host,
  run: Pick<RevertRun, "runId" | "machine" | "builtIn">,
  plan: readonly PlannedRevert[],
): Promise<RevertReport> {
  const report = new RevertReportBuilder();
  for (const planned of plan) {
    const definition = decideEarly(host, run, planned, report);
    if (definition === undefined) continue;
    const request = await host.store.read(() => approvalOfCall(planned.key, host.clock.now()));
    if (request?.status === "pending")
      report.add("pending", planned, { reason: request.prompt, approvalId: request.id });
    else if (definition.spec.revertNeedsApproval === true && request?.status !== "approved")
      report.add("pending", planned, { reason: "Its revert needs approval." });
    else report.add("reverted", planned);
  }
  return report.build(run.runId, true);
}

/** Reports what needs no call. Returns the definition if one is needed. */
function decideEarly(
  host: Host,
  { machine, builtIn }: Pick<RevertRun, "machine" | "builtIn">,
  planned: PlannedRevert,
  report: RevertReportBuilder,
): Extract<Definition, { kind: "revertible" }> | undefined {
  if (planned.isReverted) {
    report.add("reverted", planned, { already: true });
    return undefined;
  }
  const definition = findDefinition(host, builtIn, planned.effect);
  if (definition.kind === "left") report.add("left", planned, { reason: definition.reason });
  if (definition.kind !== "revertible") return undefined;
  if (definition.spec.usesFiles && machine !== null && machine !== host.machine && !host.isRootShared) {
    report.add("failed", planned, { reason: "Its files are on another machine. Revert the run there." });
    return undefined;
  }
  return definition;
}

async function revertOne(
  host: Host,
  run: RevertRun,
  scope: Scope,
  planned: PlannedRevert,
  report: RevertReportBuilder,
): Promise<void> {
  const definition = decideEarly(host, run, planned, report);
  if (definition === undefined) return;
  const tool = toRevertTool(definition.spec, definition.revert, planned);
  const outcome = await invoke(scope, tool, planned.input, { callKey: planned.callKey });
  const { group, ...more } = readOutcome(outcome);
  report.add(group, planned, more);
}

function readOutcome(outcome: Outcome): {
  readonly group: RevertGroup;
  readonly reason?: string;
  readonly errorCode?: string;
  readonly approvalId?: string;
} {
  switch (outcome.status) {
    case "success":
      return { group: "reverted" };
    case "pending":
      return { group: "pending", reason: outcome.approval.prompt, approvalId: outcome.approval.id };
    case "denied":
      return { group: "left", reason: "Its revert was denied.", approvalId: outcome.approval.id };
    case "error":
      return { group: "failed", reason: outcome.error.message, errorCode: outcome.error.code };
  }
}

async function release(host: Host, { id, epoch }: ScopeRow): Promise<void> {
  const work = (): Transaction<boolean> => releaseScope(id, epoch);
  await host.store.transaction(work, "normal").catch(() => host.failedWrites.add(`scope ${id}`, work));
}
