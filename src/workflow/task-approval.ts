/**
 * Approval before a task starts, and `<Approval>`, a task that consists of nothing else. Stored with the approvals of
 * calls.
 */
import { ToolwrightError } from "../errors.ts";
import { type ApprovalRow, insertApproval, readApproval, reopenApproval } from "../store/tables/approvals.ts";
import { holdRun } from "../store/tables/workflow-runs.ts";
import { fencedError, recordTask, taskApprovalId } from "./record-task.ts";
import type { RunState } from "./run-state.ts";
import { validateOutput } from "./task-output.ts";
import type { TaskState } from "./task-state.ts";
import type { TaskInstance } from "./task-instance.ts";

/** The state of a task that waits for approval or ends with the decision; `undefined` when it may start. */
export async function checkTaskApproval(
  run: RunState,
  task: TaskInstance,
  attempt: number,
): Promise<TaskState | undefined> {
  const { props } = task;
  const approval = await requestTaskApproval(run, task);
  if (approval.status === "pending") return recordTask(run, task, { attempt, status: "waiting" });
  const isApproved = approval.status === "approved";
  if (isApproved && props.asks !== true) return undefined;
  if (isApproved || props.onDeny === "continue") {
    const output = await validateOutput(props.id, props.output, decisionOf(approval));
    return recordTask(run, task, { attempt, status: "finished", output });
  }
  if (props.onDeny === "skip") return recordTask(run, task, { attempt, status: "skipped" });
  const comment = approval.comment === null ? "" : ` Comment: ${approval.comment}`;
  const error = new ToolwrightError("TOOL_APPROVAL_DENIED", `Task "${props.id}" was denied.${comment}`, {
    hint: "The denial is final for this run: start another run. onDeny says whether a denied task fails the run.",
  });
  return recordTask(run, task, { attempt, status: "failed", error, isLast: true });
}

const NO_CONTRACT = JSON.stringify({ input: {}, output: null, redactInput: [], redactOutput: [] });

/** Creates the request, or reads the existing one. */
async function requestTaskApproval(run: RunState, { props, loop }: TaskInstance): Promise<ApprovalRow> {
  const { host, runId, epoch } = run;
  const path = loop.join(".");
  const now = host.clock.now();
  const id = taskApprovalId(runId, { props, loop });
  const approval = await host.store.transaction(function* () {
    if (!(yield* holdRun(runId, epoch))) throw fencedError(runId);
    yield* insertApproval({
      id,
      kind: "task",
      runId,
      nodeId: props.id,
      iteration: loop.at(-1) ?? 0,
      scopeId: 0,
      callKey: `task ${path} ${props.id}`,
      parentKey: "",
      round: 1,
      toolName: props.id,
      fingerprint: "",
      argsJson: "{}",
      argsHash: "",
      prompt: props.approvalPrompt ?? props.prompt ?? `May task "${props.id}" start?`,
      defaultsJson: null,
      contractJson: NO_CONTRACT,
      hasClearArgs: false,
      requestedAtMs: now,
      expiresAtMs: null,
    });
    // Cancelling a run voids its requests; a resume opens them again.
    yield* reopenApproval(id, now);
    return yield* readApproval(id, now);
  }, "normal");
  if (approval === undefined) throw new Error(`the approval request ${id} was not stored`);
  return approval;
}

/** The output of an `<Approval>`. */
function decisionOf({ status, decidedBy, comment }: ApprovalRow): Record<string, unknown> {
  return { approved: status === "approved", decidedBy: decidedBy ?? null, comment: comment ?? null };
}
