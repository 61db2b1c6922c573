/** A person's word before a task begins, and `<Approval>`, which is nothing but that word. In the same table as calls'. */
import {
  type ApprovalRow,
  insertApproval,
  readApproval,
  reopenApproval,
  voidApprovalsOfTask,
  voidPending,
} from "../store/tables/approvals.ts";
import { sealScopes } from "../store/tables/scopes.ts";
import type { Transaction } from "../store/store.ts";
import { digest } from "../util/hash.ts";
import type { RunState } from "./run-state.ts";
import type { TaskState } from "./task-state.ts";
import type { TaskInstance } from "./walk-plan.ts";

/** What follows from the end of a task, in the transaction that records it: nobody has to decide about it any more. */
export function* endTask(
  runId: string,
  { props, loop }: TaskInstance,
  status: TaskState["status"],
): Transaction<void> {
  const task = { runId, nodeId: props.id, path: loop.length === 0 ? "0" : loop.join(".") };
  // A function that was cut off may be about to call something.
  if (status === "failed") yield* sealScopes(task);
  yield* voidApprovalsOfTask(task);
  if (props.asks === true || props.needsApproval === true)
    yield* voidPending(requestId(runId, { props, loop }));
}

function requestId(runId: string, { props, loop }: TaskInstance): string {
  return `apr_${digest(["task", runId, props.id, loop.join(".")]).slice(0, 24)}`;
}

const NO_CONTRACT = JSON.stringify({ input: {}, output: null, redactInput: [], redactOutput: [] });

/** The request about a task, made if there is none. Its id comes from the place, so that it is asked once. */
export async function askAboutTask(run: RunState, { props, loop }: TaskInstance): Promise<ApprovalRow> {
  const { host, runId } = run;
  const path = loop.join(".");
  const now = host.clock.now();
  const id = requestId(runId, { props, loop });
  const approval = await host.store.transaction(function* () {
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
      prompt: props.approvalPrompt ?? props.prompt ?? `May task "${props.id}" begin?`,
      defaultsJson: null,
      contractJson: NO_CONTRACT,
      hasClearArgs: false,
      requestedAtMs: now,
      expiresAtMs: null,
    });
    // The run was cancelled while it waited, and is resumed.
    yield* reopenApproval(id, now);
    return yield* readApproval(id, now);
  }, "normal");
  if (approval === undefined) throw new Error(`the request ${id} was not stored`);
  return approval;
}

/** What an `<Approval>` leaves as its output. */
export function decisionOf({ status, decidedBy, comment }: ApprovalRow): Record<string, unknown> {
  return { approved: status === "approved", decidedBy: decidedBy ?? null, comment: comment ?? null };
}
