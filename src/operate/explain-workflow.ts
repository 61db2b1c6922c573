/** Explains the status of a workflow run, and which steps an operator can take. States only facts from the store. */
import type { JsonSchema } from "../definition/json-schema.ts";
import type { Approval } from "../invoke/approval.ts";
import { readApprovals } from "../runtime/approvals.ts";
import type { Store } from "../store/store.ts";
import { readCallLog } from "../store/tables/call-log.ts";
import { listUnrepeatableCalls } from "../store/tables/earlier-calls.ts";
import { readRunRow } from "../store/tables/runs.ts";
import { readTaskHeads, type TaskHead } from "../store/tables/tasks.ts";
import { readWaits } from "../store/tables/waits.ts";
import type { WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";
import { systemClock } from "../util/clock.ts";
import { decode } from "../util/encode.ts";
import { toAge, toDuration, toShortText } from "../terminal/readable.ts";
import { describeMissing } from "../workflow/missing-tasks.ts";
import type { StartOptions } from "../workflow/run-options.ts";
import { errorOf } from "./described-error.ts";
import { exampleOf } from "./example-value.ts";
import { isResumable } from "./is-resumable.ts";
import { listRequests } from "./list-requests.ts";
import { answerSteps, type NextStep, nextStep } from "./next-step.ts";
import { describeCall, describeOpenCalls } from "./open-calls.ts";
import { isOver } from "./run-status.ts";
import { describeWaits, listRefusals } from "./run-waits.ts";
import { readOutlook } from "./worker-outlook.ts";
import { describeOwner, livenessIn, readLivingOwner } from "./run-owner.ts";

export interface Explanation {
  readonly status: WorkflowRunRow["status"];
  readonly because: readonly string[];
  readonly next: readonly NextStep[];
}

/** The length at which an error inside a sentence is cut. */
const LONGEST_ERROR = 1_000;

/** A run may wait for thousands of decisions: `toolwright approvals` lists them all. */
const MOST_REQUESTS = 20;
const MOST_FAILURES = 20;

export async function explainWorkflow(store: Store, run: WorkflowRunRow): Promise<Explanation> {
  const explanation = await explainStatus(store, run);
  const because = [...explanation.because, ...(await missingTasks(store, run))];
  // A worker starts an enqueued run by its name.
  const isQueued = run.status === "queued" || run.shape === "";
  if (run.file !== null || run.status === "finished" || isQueued) return { ...explanation, because };
  const row = await store.read(() => readRunRow(run.runId));
  const isServed = row !== undefined && (await readOutlook(store, row)).mayTake;
  // `toolwright resume` hands a run that has ended to a worker that knows it. A worker continues any other run
  // without a command.
  if (isServed && isOver(run.status)) return { ...explanation, because };
  // A resume needs a file that only the author of the program knows.
  const next = explanation.next.filter(({ action, flags }) => action !== "resume" || flags.length > 0);
  if (isServed) return { ...explanation, because, next };
  return {
    ...explanation,
    because: [
      ...because,
      "It was started by a program, so its file is not stored. To continue it, run the program again, or add --file <file> to resume.",
    ],
    next,
  };
}

/** Tasks that were lost when the run was resumed with a changed workflow. */
async function missingTasks(store: Store, { runId, optionsJson }: WorkflowRunRow): Promise<string[]> {
  const { missingTasks: missing = [] } = decode(optionsJson) as StartOptions;
  if (missing.length === 0) return [];
  const calls = await store.read(() => listUnrepeatableCalls(runId));
  return [`Resumed with changes: ${describeMissing(calls.filter(({ nodeId }) => missing.includes(nodeId)))}`];
}

function explainStatus(store: Store, run: WorkflowRunRow): Explanation | Promise<Explanation> {
  const { runId, status } = run;
  const name = `Run ${toTerminalName(runId)} of "${run.workflow}"`;
  switch (status) {
    case "finished": {
      const took = toDuration((run.finishedAtMs ?? run.updatedAtMs) - run.createdAtMs);
      return { status, because: [`${name} finished after ${took}.`], next: [nextStep("inspect", runId)] };
    }
    case "waiting-approval":
      return explainWaiting(store, run, name);
    case "waiting-timer":
    case "waiting-signal":
      return explainWaits(store, run, name);
    case "failed":
      return explainFailed(store, run, name);
    case "cancelled":
      return explainCancelled(store, run, name);
    case "running":
      return explainRunning(store, run, name);
    case "queued":
      return explainQueued(store, run, name);
  }
}

async function explainWaiting(store: Store, run: WorkflowRunRow, name: string): Promise<Explanation> {
  const { runId, status } = run;
  const resume = nextStep("resume", runId);
  const { requests, total } = await listRequests(store, { runId, status: "pending" }, MOST_REQUESTS);
  if (requests.length === 0) {
    const denied = await readApprovals({ store, clock: systemClock }, { runId, status: "denied" });
    return {
      status,
      because: [`${name} waited for approval, and every request has been decided.`, ...denied.map(denial)],
      next: [denied.length === 0 ? resume : { ...resume, label: "Let the run continue with the denial" }],
    };
  }
  const waits = await describeWaits(store, runId);
  const hidden = total - requests.length;
  const resumes = await isResumable(store, run);
  return {
    status,
    because: [
      `${name} waits for approval.`,
      ...requests.map(pendingRequest),
      ...(hidden > 0 ? [`${hidden} more requests are not shown here.`] : []),
      ...waits,
    ],
    next: [
      ...requests.flatMap((request) => answerSteps(request, { resume: resumes })),
      ...(hidden > 0 ? [nextStep("approvals", undefined, ["--run", runId])] : []),
      ...(resumes ? [] : [resume]),
    ],
  };
}

async function explainWaits(store: Store, run: WorkflowRunRow, name: string): Promise<Explanation> {
  const { runId, status } = run;
  const waits = await store.read(() => readWaits(runId));
  const refusals = await listRefusals(store, runId);
  const because = [`${name} waits.`, ...(await describeWaits(store, runId)), ...refusals];
  const resume = nextStep("resume", runId);
  if (waits.length === 0 || waits.some(({ isOver }) => isOver)) return { status, because, next: [resume] };
  const sends = waits.flatMap(({ signal, schemaJson }) =>
    signal === null ? [] : [sendStep(runId, signal, schemaJson)],
  );
  const here = { ...nextStep("resume", runId, ["--wait"]), label: "Wait here, then continue" };
  return { status, because, next: [...sends, ...((await isResumable(store, run)) ? [here] : [])] };
}

/** Only the sender knows the payload. The example shows its shape, and is accepted as it is. */
function sendStep(runId: string, signal: string, schemaJson: string | null): NextStep {
  const example = schemaJson === null ? {} : exampleOf(JSON.parse(schemaJson) as JsonSchema);
  const label = "Send the signal, with your payload instead of the example";
  return { ...nextStep("signal", [runId, signal], ["--payload", JSON.stringify(example)]), label };
}

async function explainFailed(store: Store, run: WorkflowRunRow, name: string): Promise<Explanation> {
  const { runId, status } = run;
  const error = errorOf(run.errorJson);
  const isInvalid = error?.code === "WORKFLOW_INVALID";
  const reason = toShortText(error?.message ?? "no reason was recorded", LONGEST_ERROR);
  const tasks = (await store.read(() => readTaskHeads(runId))).filter((task) => task.status === "failed");
  const lasting = tasks.flatMap(lastingFailure);
  const calls = nextStep("calls", runId);
  return {
    status,
    because: [
      `${name} failed: ${reason}`,
      ...(isInvalid ? [toShortText(error.hint, LONGEST_ERROR)] : []),
      ...(await failures(store, runId, tasks)),
      ...lasting,
    ],
    next: lasting.length > 0 ? [calls] : isInvalid ? [afterFix(runId)] : [calls, nextStep("resume", runId)],
  };
}

/** The fix changes the workflow file, so a plain resume would be refused. */
function afterFix(runId: string): NextStep {
  return { ...nextStep("resume", runId, ["--accept-changes"]), label: "After you have fixed the workflow" };
}

async function explainCancelled(store: Store, run: WorkflowRunRow, name: string): Promise<Explanation> {
  const because = `${name} was stopped ${toAge(run.updatedAtMs)}. It can be resumed where it stopped.`;
  return {
    status: run.status,
    because: [because, ...(await unfinishedWork(store, run.runId))],
    next: [nextStep("resume", run.runId)],
  };
}

/** A fork has the file of its parent, so it can be resumed here. What was enqueued by name has none. */
async function explainQueued(store: Store, run: WorkflowRunRow, name: string): Promise<Explanation> {
  const { runId, status } = run;
  const resumes = await isResumable(store, run);
  return {
    status,
    because: [`${name} waits for a worker.`],
    next: [...(resumes ? [nextStep("resume", runId)] : []), nextStep("cancel", runId)],
  };
}

async function explainRunning(store: Store, run: WorkflowRunRow, name: string): Promise<Explanation> {
  const { runId, status } = run;
  const owner = await readLivingOwner(store, run.ownerId);
  const unfinished = await unfinishedWork(store, runId);
  if (owner === undefined) {
    const because = run.isCancelRequested
      ? `${name} was asked to stop, and its process ended first. The next resume ends it as cancelled.`
      : `${name} was interrupted: its process is gone. Resume it to continue where it stopped.`;
    return { status, because: [because, ...unfinished], next: [nextStep("resume", runId)] };
  }
  return {
    status,
    because: [
      `${name} is running in ${describeOwner(owner)}, started ${toAge(run.createdAtMs)}.`,
      ...unfinished,
    ],
    next: [nextStep("inspect", runId), nextStep("cancel", runId)],
  };
}

export function pendingRequest({
  id,
  kind,
  nodeId,
  toolName,
  prompt,
  args,
  requestedAtMs,
}: Approval): string {
  const request = `${toShortText(prompt)} (${id}, ${toAge(requestedAtMs)})`;
  if (kind === "task") return `Task "${nodeId}" waits for approval: ${request}`;
  const what = kind === "replay" ? "an answer" : "approval";
  return `The call of "${toolName}" in task "${nodeId}" with ${toShortText(args)} waits for ${what}: ${request}`;
}

export function denial({ id, nodeId, toolName, kind, comment }: Approval): string {
  const what = kind === "task" ? `Task "${nodeId}"` : `The call of "${toolName}" in task "${nodeId}"`;
  const reason = comment === undefined || comment === "" ? "" : ` (${toShortText(comment)})`;
  return `${what} was denied${reason}: a resume does not ask again. To ask again, start a new run. (${id})`;
}

/** Failures that a resume would only repeat. */
function lastingFailure(task: TaskHead): string[] {
  const error = errorOf(task.errorJson);
  if (error?.code === "TOOL_APPROVAL_DENIED")
    return [`The denial stands: a resume of task ${nameOf(task)} gets it again. Start a new run instead.`];
  // With any other `onUnknown`, the call waits for approval, and then a resume continues.
  if (error?.code === "TOOL_OUTCOME_UNKNOWN" && error.hint.includes('onUnknown: "fail"'))
    return [`A resume of task ${nameOf(task)} fails in the same way while the tool has onUnknown: "fail".`];
  return [];
}

async function failures(store: Store, runId: string, failed: readonly TaskHead[]): Promise<string[]> {
  const sentences: string[] = [];
  for (const task of failed.slice(-MOST_FAILURES)) {
    const error = errorOf(task.errorJson);
    const { nodeId } = task;
    const calls = await readCallLog(store, { runId, nodeId, status: "error" }, livenessIn(store));
    const last = calls.at(-1);
    const hint = error === null || error.hint === "" ? "" : ` ${toShortText(error.hint, LONGEST_ERROR)}`;
    sentences.push(
      `Task ${nameOf(task)} failed in attempt ${task.attempt}: ${toShortText(error?.message ?? "", LONGEST_ERROR)} [${error?.code ?? ""}].${hint}`,
      ...(last === undefined ? [] : [`Its last failed call was ${describeCall(last)}.`]),
    );
  }
  const hidden = failed.length - MOST_FAILURES;
  return hidden > 0 ? [...sentences, `${hidden} more tasks failed before.`] : sentences;
}

async function unfinishedWork(store: Store, runId: string): Promise<string[]> {
  const tasks = await store.read(() => readTaskHeads(runId));
  const done = tasks.filter((task) => task.status === "finished" || task.status === "skipped").length;
  const open = tasks.filter((task) => task.status === "running" || task.status === "waiting").map(nameOf);
  return [
    `${done} ${done === 1 ? "task is" : "tasks are"} done${open.length === 0 ? "" : `; open: ${open.join(", ")}`}.`,
    ...(await describeOpenCalls(store, runId)),
  ];
}

function nameOf({ nodeId, path }: TaskHead): string {
  const passes = path === "" ? [] : path.split(".").map((pass) => Number(pass) + 1);
  return passes.every((pass) => pass === 1) ? `"${nodeId}"` : `"${nodeId}" (pass ${passes.join(".")})`;
}
