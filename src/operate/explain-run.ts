/** Explains the status of a run of any kind, and which steps an operator can take, each with its command. */
import type { Store } from "../store/store.ts";
import { isReverted } from "../store/tables/reverts.ts";
import { readRun } from "../store/tables/workflow-runs.ts";
import { type CommandSyntax, toTypedStep } from "./commands.ts";
import { type KnownRun, requireRun } from "./describe-run.ts";
import { explainProgram } from "./explain-program.ts";
import { explainWorkflow } from "./explain-workflow.ts";
import { explainReverted } from "./explain-reverted.ts";
import { type NextStep, nextStep } from "./next-step.ts";
import type { RunExplanation, RunStatus, RunSummary } from "../runtime/runs.ts";
import { isReadyNow, NO_WORKER, readOutlook } from "./worker-outlook.ts";

/** @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED */
export async function explainRun(
  store: Store,
  runId: string,
  syntax: CommandSyntax,
): Promise<RunExplanation> {
  const { status, because, next } = await explainSteps(store, runId);
  return { runId, status, because, next: next.map((step) => toTypedStep(syntax, step)) };
}

export interface ExplainedSteps {
  readonly status: RunStatus;
  readonly because: readonly string[];
  readonly next: readonly NextStep[];
}

/** The same for a face that renders the steps itself. */
export async function explainSteps(store: Store, runId: string): Promise<ExplainedSteps> {
  const known = await requireRun(store, runId);
  const workflow = known.row.kind === "workflow" ? await store.read(() => readRun(runId)) : undefined;
  const explained =
    workflow === undefined ? await explainProgram(store, known) : await explainWorkflow(store, workflow);
  if (await store.read(() => isReverted(runId))) return explainReverted(store, runId, explained);
  return withOutlook(store, known, explained);
}

/** Adds what workers do with a run that is ready, and what an operator can do if none may take it. */
async function withOutlook(
  store: Store,
  { row, summary }: KnownRun,
  explained: ExplainedSteps,
): Promise<ExplainedSteps> {
  if (!isReadyNow(row) || isAtWork(summary)) return explained;
  const { because, isChanged, mayTake } = await readOutlook(store, row);
  // Without workers, everything is as it was before there were any: commands resume runs.
  if (!mayTake && because === NO_WORKER && summary.status !== "queued") return explained;
  const runId = row.runId;
  const steps = isChanged
    ? [
        {
          ...nextStep("resume", runId, ["--accept-changes"]),
          label: "Accept the changes, and resume it here",
        },
      ]
    : mayTake || summary.status !== "queued"
      ? []
      : [{ ...nextStep("worker"), label: "Start a worker that knows it" }];
  // A worker that may take a queued run takes it without a command.
  const isTaken = mayTake && summary.status === "queued";
  const others = explained.next.filter(({ action }) => (!isChanged && !isTaken) || action !== "resume");
  return { ...explained, because: [...explained.because, because], next: [...steps, ...others] };
}

function isAtWork({ status, interrupted }: RunSummary): boolean {
  return status === "running" && !interrupted;
}
