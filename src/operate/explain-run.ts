/** Explains the status of a run of any kind, and which steps an operator can take, each with its command. */
import type { Store } from "../store/store.ts";
import { readRun } from "../store/tables/workflow-runs.ts";
import { type CommandSyntax, toTypedStep } from "./commands.ts";
import { requireRun } from "./describe-run.ts";
import { explainProgram } from "./explain-program.ts";
import { explainWorkflow } from "./explain-workflow.ts";
import type { NextStep } from "./next-step.ts";
import type { RunExplanation, RunStatus } from "../runtime/runs.ts";

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
  return workflow === undefined ? explainProgram(store, known) : explainWorkflow(store, workflow);
}
