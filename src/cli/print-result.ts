/** Prints how a run ended, its waits, and which commands come next. */
import { resolve } from "node:path";
import type { Approval } from "../invoke/approval.ts";
import { hostOf } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { WorkflowResult } from "../workflow/run-workflow.ts";
import { toTerminalJson, toTerminalName } from "../terminal/terminal-text.ts";
import { approvalRow } from "./approval-row.ts";
import { EXIT } from "./command.ts";
import { describeError } from "../operate/described-error.ts";
import { explainSteps } from "../operate/explain-run.ts";
import { isOver } from "../operate/run-status.ts";
import { describeWaits, listWaits } from "../operate/run-waits.ts";
import { answerSteps, type NextStep, nextStep } from "../operate/next-step.ts";
import { questionLines } from "./request-lines.ts";
import type { Screen } from "./screen.ts";
import { stepLines, toTypedSteps } from "./step-lines.ts";
import { absoluteAddress, withoutPassword } from "../operate/store-address.ts";

/** A run may wait for thousands of decisions: `approvals` lists them all. */
const MOST_REQUESTS = 10;

export interface ResultContext {
  readonly store: string;
  readonly file: string;
  /** The decision that resumed the run. */
  readonly decision?: Approval | undefined;
}

export async function printResult(
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
  const { store: opened } = await hostOf(runtime);
  const waits = isOver(status) ? [] : await listWaits(opened, runId);
  const next = await nextSteps(result, requests, runtime);
  const typed = toTypedSteps(store, next);
  screen.printJson({
    runId,
    status,
    output: output ?? null,
    outputs,
    error: error === undefined ? null : describeError(error),
    file: resolve(file),
    store: withoutPassword(absoluteAddress(store)),
    ...(status === "finished" ? {} : { approvals: requests.map(approvalRow), waits, next: typed }),
    ...(decision === undefined ? {} : { decision: approvalRow(decision) }),
  });
  const name = toTerminalName(runId);
  switch (status) {
    case "finished":
      screen.print(`${screen.paint("green", "finished")} ${name}`);
      if (output !== undefined) screen.printText(toTerminalJson(output));
      return EXIT.finished;
    case "waiting-approval":
      screen.print(`${screen.paint("yellow", "waiting")} ${name} waits for approval.`);
      printRequests(screen, requests, next, store);
      for (const line of await describeWaits(opened, runId)) screen.print(`  ${line}`);
      return EXIT.waiting;
    case "waiting-timer":
    case "waiting-signal":
      screen.print(`${screen.paint("yellow", "waiting")} ${name} waits.`);
      for (const line of await describeWaits(opened, runId)) screen.print(`  ${line}`);
      for (const line of stepLines(typed)) screen.print(line);
      return EXIT.waiting;
    case "cancelled":
      screen.print(`${screen.paint("yellow", "stopped")} ${name}`);
      for (const line of stepLines(typed)) screen.print(line);
      return EXIT.failed;
    case "failed":
      screen.printBlock(`${screen.paint("red", "failed")} ${name}: ${error?.message ?? "unknown error"}`);
      if (error !== undefined && error.hint !== "") screen.print(`  ${error.hint}`);
      for (const line of stepLines(typed)) screen.print(line);
      return EXIT.failed;
  }
}

function printRequests(
  screen: Screen,
  requests: readonly Approval[],
  next: readonly NextStep[],
  store: string,
): void {
  for (const request of requests.slice(0, MOST_REQUESTS)) {
    const task = `task ${toTerminalName(request.nodeId)}`;
    const tool = request.kind === "task" ? "" : `, tool ${toTerminalName(request.toolName)}`;
    screen.print(`  ${screen.paint("bold", request.id)}  ${task}${tool}`);
    for (const line of questionLines(request, store)) screen.print(`    ${line}`);
    for (const line of stepLines(toTypedSteps(store, answerSteps(request, RESUMING)), "    "))
      screen.print(line);
  }
  const rest = next.slice(requests.length > MOST_REQUESTS ? -2 : -1);
  for (const line of stepLines(toTypedSteps(store, rest))) screen.print(line);
}

const RESUMING = { resume: true } as const;

/** Steps for each request come first, then the steps for the run. */
async function nextSteps(
  { runId, status }: WorkflowResult,
  requests: readonly Approval[],
  runtime: Runtime,
): Promise<NextStep[]> {
  const resume = nextStep("resume", runId);
  switch (status) {
    case "finished":
      return [];
    case "cancelled":
      return [{ ...resume, label: "Resume it" }];
    case "failed":
      return [{ ...nextStep("why", runId), label: "See why" }, ...(await resumeSteps(runtime, runId))];
    case "waiting-timer":
    case "waiting-signal":
      return [...(await explainSteps((await hostOf(runtime)).store, runId)).next];
    case "waiting-approval": {
      const shown = requests.slice(0, MOST_REQUESTS);
      return [
        ...shown.flatMap((request) => answerSteps(request, RESUMING)),
        ...(requests.length > shown.length
          ? [{ ...nextStep("approvals", undefined, ["--run", runId]), label: "List all requests" }]
          : []),
        requests.length === 0
          ? { ...resume, label: "Every request has been decided; resume it" }
          : { ...nextStep("resume", runId, ["--ask"]), label: "Answer here, on a terminal" },
      ];
    }
  }
}

/** Some failures are final, such as a denial, and some need a fix first: `why` decides. */
async function resumeSteps(runtime: Runtime, runId: string): Promise<NextStep[]> {
  const { store } = await hostOf(runtime);
  const { next } = await explainSteps(store, runId);
  const step = next.find(({ action }) => action === "resume");
  return step === undefined ? [] : [{ label: "Try again", ...step }];
}
