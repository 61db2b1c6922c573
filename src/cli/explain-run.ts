/** Puts into words why a run stands as it does. Says only what is on record. */
import type { Approval } from "../invoke/approval.ts";
import { readApprovals } from "../runtime/approvals.ts";
import { countApprovals } from "../store/tables/approvals.ts";
import { type LoggedCall, readCallLog } from "../store/tables/call-log.ts";
import { listUnrepeatableCalls } from "../store/tables/earlier-calls.ts";
import { decode } from "../util/encode.ts";
import { howItEnded } from "../invoke/journal/describe-interrupted.ts";
import { toShownStored } from "../util/truncate.ts";
import { describeMissing } from "../workflow/missing-tasks.ts";
import type { StartOptions } from "../workflow/run-options.ts";
import type { Store } from "../store/store.ts";
import { readTasks, type TaskRow } from "../store/tables/tasks.ts";
import type { WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";
import { systemClock } from "../util/clock.ts";
import { answerSteps, type NextStep } from "./answer-lines.ts";
import { nextCommand } from "./command-name.ts";
import { errorOf } from "./describe-run.ts";
import { isResumable } from "./is-resumable.ts";
import { describeOwner, ownersOf, readLivingOwner } from "./owner.ts";
import { toAge, toDuration, toShortText } from "./screen.ts";

export interface Explanation {
  readonly status: WorkflowRunRow["status"];
  readonly because: readonly string[];
  readonly next: readonly NextStep[];
}

/** Of an error that is a part of a sentence. */
const LONGEST = 1_000;

/** A run may wait for thousands of decisions: `approvals` lists them all. */
const MOST_REQUESTS = 20;

export async function explainRun(store: Store, run: WorkflowRunRow, path: string): Promise<Explanation> {
  const explanation = await explainStatus(store, run, path);
  const because = [...explanation.because, ...(await missingTasks(store, run))];
  if (run.file !== null || run.status === "finished") return { ...explanation, because };
  // The command that resumes it needs a file that only its author knows.
  const resume = nextCommand(path, "resume", run.runId);
  return {
    ...explanation,
    because: [
      ...because,
      "It was started by a program, so its file is not stored: to continue it, run the program again, or add --file <file> to resume.",
    ],
    next: explanation.next.filter(({ command }) => command !== resume),
  };
}

/** The fix changes the workflow's file, so a plain resume would be refused. */
function afterFix(path: string, runId: string): NextStep {
  return {
    label: "After you have fixed the workflow",
    command: nextCommand(path, "resume", runId, ["--accept-changes"]),
  };
}

/** What was lost when the run was resumed with changes. */
async function missingTasks(store: Store, { runId, optionsJson }: WorkflowRunRow): Promise<string[]> {
  const { missingTasks: missing = [] } = decode(optionsJson) as StartOptions;
  if (missing.length === 0) return [];
  const calls = await store.read(() => listUnrepeatableCalls(runId));
  return [`Resumed with changes: ${describeMissing(calls.filter(({ nodeId }) => missing.includes(nodeId)))}`];
}

async function explainStatus(store: Store, run: WorkflowRunRow, path: string): Promise<Explanation> {
  const { runId, status } = run;
  const resume: NextStep = { command: nextCommand(path, "resume", runId) };
  const name = `Run ${toTerminalName(runId)} of "${run.workflow}"`;
  switch (status) {
    case "finished": {
      const took = toDuration((run.finishedAtMs ?? run.updatedAtMs) - run.createdAtMs);
      const because = [`${name} has finished after ${took}; nothing is left to do.`];
      return { status, because, next: [{ command: nextCommand(path, "inspect", runId) }] };
    }
    case "waiting-approval": {
      const filter = { runId, status: "pending" } as const;
      const pending = await readApprovals({ store, clock: systemClock }, { ...filter, limit: MOST_REQUESTS });
      const total = await store.read(() => countApprovals(filter, systemClock.now()));
      if (pending.length === 0) {
        const denied = await readApprovals({ store, clock: systemClock }, { runId, status: "denied" });
        return {
          status,
          because: [`${name} waited for approval, and everything has been decided.`, ...denied.map(denial)],
          next: [denied.length === 0 ? resume : { ...resume, label: "Let the run continue with the denial" }],
        };
      }
      const resumes = await isResumable(store, run);
      const next = pending.flatMap((request) => answerSteps(path, request, { resume: resumes }));
      return {
        status,
        because: [
          `${name} waits for approval.`,
          ...pending.map(asking),
          ...(total > pending.length ? [`${total - pending.length} more requests are not shown here.`] : []),
        ],
        next: [
          ...next,
          ...(total > pending.length ? [{ command: nextCommand(path, "approvals", ["--run", runId]) }] : []),
          ...(resumes ? [] : [resume]),
        ],
      };
    }
    case "failed": {
      const error = errorOf(run.errorJson);
      const isInvalid = error?.code === "WORKFLOW_INVALID";
      const because = [
        `${name} has failed: ${toShortText(error?.message ?? "no reason was recorded", LONGEST)}`,
        ...(isInvalid ? [toShortText(error.hint, LONGEST)] : []),
      ];
      const tasks = (await store.read(() => readTasks(runId))).filter((task) => task.status === "failed");
      const stuck = tasks.flatMap((task) => repeatedEnd(task));
      const calls: NextStep = { command: nextCommand(path, "calls", runId) };
      return {
        status,
        because: [...because, ...(await failures(store, run, tasks)), ...stuck],
        next: stuck.length > 0 ? [calls] : isInvalid ? [afterFix(path, runId)] : [calls, resume],
      };
    }
    case "cancelled": {
      const because = [`${name} was stopped ${toAge(run.updatedAtMs)}. A resume continues it where it was.`];
      return { status, because: [...because, ...(await openEnds(store, run))], next: [resume] };
    }
    case "running": {
      const owner = await readLivingOwner(store, run.ownerId);
      const ends = await openEnds(store, run);
      if (owner === undefined) {
        const because = [
          run.isCancelRequested
            ? `${name} was asked to stop, and its process ended before it did. The next resume ends it as cancelled.`
            : `${name} was interrupted: the process that ran it is gone. A resume continues it where it was.`,
        ];
        return { status, because: [...because, ...ends], next: [resume] };
      }
      const because = [
        `${name} is running in ${describeOwner(owner)} since ${toAge(run.createdAtMs)}.`,
        ...ends,
      ];
      return {
        status,
        because,
        next: [
          { command: nextCommand(path, "inspect", runId) },
          { command: nextCommand(path, "cancel", runId) },
        ],
      };
    }
  }
}

function asking({ id, kind, nodeId, toolName, prompt, args, requestedAtMs }: Approval): string {
  const what = kind === "replay" ? `a call of "${toolName}" whose outcome is unknown` : `"${toolName}" asks`;
  const shown = args === undefined || args === null ? "" : ` with ${toShortText(args)}`;
  return `Task "${nodeId}": ${what}${shown}: ${toShortText(prompt)} (${id}, ${toAge(requestedAtMs)})`;
}

function denial({ id, nodeId, toolName, kind, comment }: Approval): string {
  const what = kind === "task" ? `Task "${nodeId}"` : `The call of "${toolName}" in task "${nodeId}"`;
  const said = comment === undefined || comment === "" ? "" : ` (${toShortText(comment)})`;
  return `${what} was denied${said}: a resume does not ask again. To ask again, start a new run. (${id})`;
}

/** Ends that a resume meets again: nothing that it does changes them. */
function repeatedEnd(task: TaskRow): string[] {
  const error = errorOf(task.errorJson);
  if (error?.code === "TOOL_APPROVAL_DENIED")
    return [`The denial stands: a resume of task ${nameOf(task)} gets it again. Start a new run instead.`];
  // Of another kind, such an end is decided by a person, and then a resume continues.
  if (error?.code === "TOOL_OUTCOME_UNKNOWN" && error.hint.includes('onUnknown: "fail"'))
    return [`A resume of task ${nameOf(task)} ends in the same way as long as the tool is defined so.`];
  return [];
}

async function failures(store: Store, run: WorkflowRunRow, failed: readonly TaskRow[]): Promise<string[]> {
  const calls = await readCallLog(store, { runId: run.runId }, ownersOf(store));
  return failed.flatMap((task) => {
    const error = errorOf(task.errorJson);
    const last = calls.findLast((call) => call.nodeId === task.nodeId && call.status === "error");
    const hint = error === null || error.hint === "" ? "" : ` ${toShortText(error.hint, LONGEST)}`;
    return [
      `Task ${nameOf(task)} failed in attempt ${task.attempt}: ${toShortText(error?.message ?? "", LONGEST)} [${error?.code ?? ""}].${hint}`,
      ...(last === undefined ? [] : [`Its last failed call was ${describeCall(last)}.`]),
    ];
  });
}

/** What was begun and has not ended. */
async function openEnds(store: Store, run: WorkflowRunRow): Promise<string[]> {
  const tasks = await store.read(() => readTasks(run.runId));
  const calls = await readCallLog(store, { runId: run.runId }, ownersOf(store));
  const done = tasks.filter((task) => task.status === "finished" || task.status === "skipped").length;
  const open = tasks.filter((task) => task.status === "running" || task.status === "waiting").map(nameOf);
  const started = calls.filter((call) => call.status === "started");
  const unknown = calls.filter((call) => call.status === "unknown");
  return [
    `${done} ${done === 1 ? "task is" : "tasks are"} done${open.length === 0 ? "" : `; open: ${open.join(", ")}`}.`,
    ...started.map((call) => `It is in a call of ${describeCall(call)}.`),
    ...unknown.map(
      (call) => `The outcome of its call of ${describeCall(call)} is unknown: it ${howItEnded(call)}.`,
    ),
  ];
}

function nameOf({ nodeId, path }: TaskRow): string {
  const passes = path === "" ? [] : path.split(".").map((pass) => Number(pass) + 1);
  return passes.every((pass) => pass === 1) ? `"${nodeId}"` : `"${nodeId}" (pass ${passes.join(".")})`;
}

function describeCall({ toolName, nodeId, inputJson }: LoggedCall): string {
  const input = inputJson === null ? "nothing" : toShownStored(inputJson);
  return `"${toolName}" in task "${nodeId}" with ${toShortText(input, 80)}`;
}
