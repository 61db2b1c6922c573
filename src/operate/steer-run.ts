/** Cancels and resumes runs of every kind, as far as another process can. */
import { ToolwrightError } from "../errors.ts";
import type { RunStatus } from "../runtime/runs.ts";
import type { Store } from "../store/store.ts";
import { voidApprovalsOfRun } from "../store/tables/approvals.ts";
import { markReady } from "../store/tables/queue.ts";
import { mayQueueAgain, queueProgramAgain } from "../store/tables/program-claims.ts";
import { assertResumable } from "../store/tables/reverts.ts";
import { cancelRunRow, type RunRow } from "../store/tables/runs.ts";
import { sealRun } from "../store/tables/scopes.ts";
import { forgetTakeovers } from "../store/tables/takeovers.ts";
import { queueAgain, readRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { type CancelResult, cancelRun } from "./cancel-run.ts";
import { type CommandSyntax, toCommand } from "./commands.ts";
import { type KnownRun, requireRun } from "./describe-run.ts";
import { isResumable } from "./is-resumable.ts";
import { isOver } from "./run-status.ts";
import { describeOwner, readLivingOwner } from "./run-owner.ts";
import { readOutlook } from "./worker-outlook.ts";

/**
 * Workflows stop at their next step. Another run can be cancelled only without a live owner: it waits or was interrupted.
 * @param options.waitMs how long to wait for the owner. Default: 10,000
 * @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED, TOOL_RUN_CONFLICT
 */
export async function cancelAnyRun(
  store: Store,
  runId: string,
  options: { readonly waitMs?: number } = {},
): Promise<CancelResult> {
  const known = await requireRun(store, runId);
  const workflow = known.row.kind === "workflow" ? await store.read(() => readRun(runId)) : undefined;
  return workflow === undefined ? cancelProgram(store, known) : cancelRun(store, workflow, options);
}

async function cancelProgram(store: Store, { row, summary }: KnownRun): Promise<CancelResult> {
  const { runId, status } = summary;
  if (status === "cancelled") return { outcome: "already-cancelled", status, owner: undefined };
  if (isOver(status)) return { outcome: "already-ended", status, owner: undefined };
  const owner = await readLivingOwner(store, row.ownerId);
  if (!summary.interrupted && status === "running") {
    const where = owner === undefined ? "its process" : describeOwner(owner);
    throw new ToolwrightError(
      "TOOL_RUN_CONFLICT",
      `Run "${runId}" is running in ${where}, and only that program can stop it.`,
      { details: { runId, pid: owner?.pid ?? null }, hint: "Stop the process, then cancel the run." },
    );
  }
  const changes = await store.transaction(function* () {
    const cancelled = yield* cancelRunRow(row, Date.now());
    if (cancelled === 0) return 0;
    // An owner that was only suspended must make no further call when it wakes up.
    yield* sealRun(runId);
    yield* voidApprovalsOfRun(runId);
    return cancelled;
  }, "normal");
  // The run has changed in the meantime.
  if (changes === 0) return cancelProgram(store, await requireRun(store, runId));
  return { outcome: "cancelled", status: "cancelled", owner: undefined };
}

export interface ResumeAnswer {
  readonly runId: string;
  readonly status: RunStatus;
  /** What resumes the run: its living owner, or a worker. `null`: nothing does until an operator runs the command. */
  readonly by: "owner" | "worker" | null;
  readonly message: string;
  /** The command that resumes it. `null` if only its own program can. */
  readonly command: string | null;
}

/**
 * A failed or cancelled run is queued again. `false` for an agent or a program that has ended and that no worker has run: only
 * its own process has its input.
 */
function giveToWorkers(store: Store, { runId, kind, state }: RunRow): Promise<boolean> {
  const again = kind === "workflow" ? queueAgain : queueProgramAgain;
  return store.transaction(function* () {
    if (state === "failed" || state === "cancelled") {
      yield* again(runId, Date.now());
      yield* forgetTakeovers(runId);
    }
    return (yield* markReady(runId)) > 0;
  }, "normal");
}

/**
 * @param options.isServedHere the caller can run the workflow of the run
 * @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED, TOOL_RUN_CONFLICT for a run that has finished
 */
export async function requestResume(
  store: Store,
  runId: string,
  syntax: CommandSyntax,
  { isServedHere = false }: { readonly isServedHere?: boolean } = {},
): Promise<ResumeAnswer> {
  const { row, summary } = await requireRun(store, runId);
  await store.read(() => assertResumable(runId));
  const { status, interrupted, kind } = summary;
  if (status === "finished")
    throw new ToolwrightError(
      "TOOL_RUN_CONFLICT",
      `Run "${runId}" has finished; there is nothing to resume.`,
      {
        details: { runId, status },
        hint: "Nothing was changed. To run a part of it again, fork it.",
      },
    );
  if (status === "running" && !interrupted) {
    const owner = await readLivingOwner(store, row.ownerId);
    const where = owner === undefined ? "its process" : describeOwner(owner);
    return { runId, status, by: "owner", message: `It is running in ${where}.`, command: null };
  }
  const outlook = await readOutlook(store, row);
  const workflow = kind === "workflow" ? await store.read(() => readRun(runId)) : undefined;
  const isHere = await isResumable(store, workflow);
  // Only a worker resumes what was enqueued by name, so it is queued even if none is running.
  const waits =
    kind === "workflow"
      ? status === "queued" && !isHere && !isServedHere
      : status === "queued" || (await store.read(() => mayQueueAgain(runId)));
  if ((outlook.mayTake || waits) && (await giveToWorkers(store, row)))
    return outlook.mayTake
      ? { runId, status, by: "worker", message: "A worker resumes the run.", command: null }
      : {
          runId,
          status,
          by: "worker",
          message: `It is queued. ${outlook.because} Start a worker that knows it.`,
          command: toCommand(syntax, "worker", []),
        };
  if (outlook.isChanged) {
    const command = toCommand(syntax, "resume", [runId, ["--accept-changes"]]);
    return { runId, status, by: null, message: outlook.because, command };
  }
  if (isHere)
    return {
      runId,
      status,
      by: null,
      message: `${outlook.because} Run the command.`,
      command: toCommand(syntax, "resume", [runId]),
    };
  return { runId, status, by: null, message: howToResume(workflow), command: null };
}

function howToResume(workflow: WorkflowRunRow | undefined): string {
  if (workflow === undefined) return "Its program resumes it: run it again with the same run id.";
  return workflow.file === null
    ? "A program started it, so its file is not stored. Run the program again, or add --file <file> to resume."
    : `Its file ${workflow.file} is not on this machine. Start a worker that knows it, or add --file <file> to resume.`;
}
