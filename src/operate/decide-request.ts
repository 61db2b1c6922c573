/** Finds an approval request, checks an answer to it, and records the decision. */
import { type Approval, toApproval } from "../invoke/approval.ts";
import type { ApprovalDecision } from "../runtime/approvals.ts";
import { hostOf } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readApproval } from "../store/tables/approvals.ts";
import { readRun } from "../store/tables/workflow-runs.ts";

export type FoundRequest =
  | { readonly kind: "request"; readonly request: Approval }
  | { readonly kind: "missing" }
  /** The name belongs to a run, and does not identify one request. */
  | { readonly kind: "ambiguous"; readonly pending: readonly Approval[]; readonly isRequestId: boolean };

const REQUEST_ID = /^apr_/i;

/**
 * Finds a request by its id, or the only pending request of a run. An id of the form of a request never stands for a run,
 * even if the request was deleted: callers choose run ids, and could choose the id of a request.
 */
export async function findRequest(runtime: Runtime, idOrRun: string): Promise<FoundRequest> {
  const { store, clock } = await hostOf(runtime);
  const row = await store.read(() => readApproval(idOrRun, clock.now()));
  if (row !== undefined) return { kind: "request", request: toApproval(row) };
  const pending = await runtime.approvals({ status: "pending", runId: idOrRun });
  const isRequestId = REQUEST_ID.test(idOrRun);
  const [only] = pending;
  if (only === undefined) return { kind: "missing" };
  if (pending.length === 1 && !isRequestId) return { kind: "request", request: only };
  return { kind: "ambiguous", pending, isRequestId };
}

export type AnswerProblem = "task-has-no-arguments" | "needs-resolution" | "takes-no-resolution";

/** Why an answer does not fit a pending request. `undefined` if it fits. */
export function problemWithAnswer(
  { kind }: Approval,
  { resolution, approvedArgs }: Pick<ApprovalDecision, "resolution" | "approvedArgs">,
): AnswerProblem | undefined {
  if (kind === "task" && approvedArgs !== undefined) return "task-has-no-arguments";
  if (kind === "replay") return resolution === undefined ? "needs-resolution" : undefined;
  return resolution === undefined ? undefined : "takes-no-resolution";
}

export interface DecidedRequest {
  readonly settled: Approval;
  /** How many requests its run still waits for. */
  readonly pending: number;
}

export async function decideRequest(
  runtime: Runtime,
  id: string,
  decision: ApprovalDecision,
): Promise<DecidedRequest> {
  const settled = await runtime.resolveToolApproval(id, decision);
  const pending = await runtime.approvals({ status: "pending", runId: settled.runId });
  return { settled, pending: pending.length };
}

/** Whether a request is about a revert of a run that has ended: the next revert reads the decision, not a resume. */
export async function isOfRevert(runtime: Runtime, { runId }: Approval): Promise<boolean> {
  const { status, revertedAtMs } = await runtime.describeRun(runId);
  return revertedAtMs !== null && ["finished", "failed", "cancelled"].includes(status);
}

/**
 * The workflow run of a request. `undefined` for any other run, which continues when its program or command runs again.
 * `hasFile`: without a stored file, `resume` needs `--file`.
 */
export async function workflowRunOf(
  runtime: Runtime,
  { runId }: Approval,
): Promise<{ readonly hasFile: boolean } | undefined> {
  const { store } = await hostOf(runtime);
  const run = await store.read(() => readRun(runId));
  return run === undefined ? undefined : { hasFile: run.file !== null };
}
