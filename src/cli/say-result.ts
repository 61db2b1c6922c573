/** Says how a run ended, what it waits for, and which commands come next. */
import { resolve } from "node:path";
import type { Approval } from "../invoke/approval.ts";
import { hostOf } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { isPostgresAddress } from "../store/open-store.ts";
import { readRun } from "../store/tables/workflow-runs.ts";
import type { WorkflowResult } from "../workflow/run-workflow.ts";
import { toTerminalJson, toTerminalName } from "../terminal/terminal-text.ts";
import { answerSteps, type NextStep, stepLines } from "./answer-lines.ts";
import { approvalRow } from "./approval-row.ts";
import { EXIT } from "./command.ts";
import { nextCommand, withoutPassword } from "./command-name.ts";
import { describeError } from "./describe-run.ts";
import { explainRun } from "./explain-run.ts";
import { questionLines } from "./request-lines.ts";
import type { Screen } from "./screen.ts";

/** A run may wait for thousands of decisions: `approvals` lists them all. */
const MOST_REQUESTS = 10;

export interface ResultContext {
  readonly store: string;
  readonly file: string;
  /** What was decided right before the run was resumed. */
  readonly decision?: Approval | undefined;
}

export async function sayResult(
  screen: Screen,
  runtime: Runtime,
  result: WorkflowResult,
  { store, file, decision }: ResultContext,
): Promise<number> {
  const { runId, status, output, outputs, error } = result;
  const requests =
    status === "waiting-approval"
      ? await runtime.approvals({ status: "pending", runId, limit: MOST_REQUESTS + 1 })
      : [];
  const next = await nextSteps(result, requests, runtime, store);
  screen.tell({
    runId,
    status,
    output: output ?? null,
    outputs,
    error: error === undefined ? null : describeError(error),
    file: resolve(file),
    store: isPostgresAddress(store) ? withoutPassword(store) : resolve(store),
    ...(status === "finished" ? {} : { approvals: requests.map(approvalRow), next }),
    ...(decision === undefined ? {} : { decision: approvalRow(decision) }),
  });
  const name = toTerminalName(runId);
  switch (status) {
    case "finished":
      screen.say(`${screen.paint("green", "finished")} ${name}`);
      if (output !== undefined) screen.sayText(toTerminalJson(output));
      return EXIT.finished;
    case "waiting-approval":
      screen.say(`${screen.paint("yellow", "waiting")} ${name} waits for approval.`);
      sayRequests(screen, requests, next, store);
      return EXIT.waiting;
    case "cancelled":
      screen.say(`${screen.paint("yellow", "stopped")} ${name}`);
      for (const line of stepLines(next)) screen.say(line);
      return EXIT.failed;
    case "failed":
      screen.sayBlock(`${screen.paint("red", "failed")} ${name}: ${error?.message ?? "unknown error"}`);
      if (error !== undefined && error.hint !== "") screen.say(`  ${error.hint}`);
      for (const line of stepLines(next)) screen.say(line);
      return EXIT.failed;
  }
}

function sayRequests(
  screen: Screen,
  requests: readonly Approval[],
  next: readonly NextStep[],
  store: string,
): void {
  for (const request of requests.slice(0, MOST_REQUESTS)) {
    const task = `task ${toTerminalName(request.nodeId)}`;
    const tool = request.kind === "task" ? "" : `, tool ${toTerminalName(request.toolName)}`;
    screen.say(`  ${screen.paint("bold", request.id)}  ${task}${tool}`);
    for (const line of questionLines(request, store)) screen.say(`    ${line}`);
    for (const line of stepLines(answerSteps(store, request, RESUMING), "    ")) screen.say(line);
  }
  const rest = next.slice(requests.length > MOST_REQUESTS ? -2 : -1);
  for (const line of stepLines(rest)) screen.say(line);
}

const RESUMING = { resume: true } as const;

/** The last ones are those of the run itself. */
async function nextSteps(
  { runId, status }: WorkflowResult,
  requests: readonly Approval[],
  runtime: Runtime,
  store: string,
): Promise<NextStep[]> {
  const resume = nextCommand(store, "resume", runId);
  switch (status) {
    case "finished":
      return [];
    case "cancelled":
      return [{ label: "Resume it", command: resume }];
    case "failed":
      return [
        { label: "See why", command: nextCommand(store, "why", runId) },
        ...(await resumeSteps(runtime, runId, store)),
      ];
    case "waiting-approval": {
      const shown = requests.slice(0, MOST_REQUESTS);
      return [
        ...shown.flatMap((request) => answerSteps(store, request, RESUMING)),
        ...(requests.length > shown.length
          ? [{ label: "List all requests", command: nextCommand(store, "approvals", ["--run", runId]) }]
          : []),
        requests.length === 0
          ? { label: "Everything has been decided; resume it", command: resume }
          : { label: "Answer here, on a terminal", command: nextCommand(store, "resume", runId, ["--ask"]) },
      ];
    }
  }
}

/** Some ends stay as they are, such as a denial, and some need a fix first: `why` knows which. */
async function resumeSteps(runtime: Runtime, runId: string, store: string): Promise<NextStep[]> {
  const { store: opened } = await hostOf(runtime);
  const run = await opened.read(() => readRun(runId));
  if (run === undefined) return [];
  const { next } = await explainRun(opened, run, store);
  const commands = new Set([
    nextCommand(store, "resume", runId),
    nextCommand(store, "resume", runId, ["--accept-changes"]),
  ]);
  const step = next.find(({ command }) => commands.has(command));
  return step === undefined ? [] : [{ label: "Try again", ...step }];
}
