/** Records the decision of `approve` or `deny`, and prints what comes next. */
import type { Approval } from "../invoke/approval.ts";
import type { ApprovalDecision } from "../runtime/approvals.ts";
import { createRuntime } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { printedWord, toTerminalName } from "../terminal/terminal-text.ts";
import { userName } from "../terminal/user-name.ts";
import { approvalRow } from "./approval-row.ts";
import { CliError, toErrorReport } from "./cli-error.ts";
import { nextCommand } from "./command-name.ts";
import { EXIT } from "./command.ts";
import {
  decideRequest,
  findRequest,
  isOfRevert,
  problemWithAnswer,
  workflowRunOf,
} from "../operate/decide-request.ts";
import type { DecisionOptions } from "./decision-options.ts";
import { answerSteps } from "../operate/next-step.ts";
import { assertStoreExists } from "./open.ts";
import type { Screen } from "./screen.ts";
import { stepLines, toTypedSteps } from "./step-lines.ts";

/** @param approved the decision, unless `answer` has a resolution */
export async function decide(
  screen: Screen,
  options: DecisionOptions,
  idOrRun: string,
  approved: boolean,
  answer: Pick<ApprovalDecision, "resolution" | "output" | "approvedArgs">,
): Promise<number> {
  if (options.file !== undefined && options.resume !== true)
    throw new CliError("CLI_USAGE", "--file needs --resume.", "Add --resume, or leave --file out.");
  assertStoreExists(options.store);
  await using runtime = createRuntime({ store: options.store });
  const request = await requireRequest(runtime, idOrRun, options.store);
  if (request.status === "pending") {
    assertAnswerFits(request, answer, options);
    if (options.resume === true) await assertResumable(screen, runtime, request, options);
  }
  const { settled, pending } = await decideRequest(runtime, request.id, {
    ...answer,
    ...(answer.resolution === undefined ? { approved } : {}),
    decidedBy: options.by ?? userName(),
    comment: options.comment,
  });
  if (options.resume === true) {
    screen.print(decisionLine(screen, settled));
    return resumeAfter(screen, settled, options);
  }
  screen.printJson(approvalRow(settled));
  screen.print(decisionLine(screen, settled));
  if (pending > 0) screen.print(`  Run ${toTerminalName(settled.runId)} waits for ${pending} more.`);
  else for (const line of await howToContinue(runtime, settled, options.store)) screen.print(`  ${line}`);
  return EXIT.finished;
}

/** @throws CliError */
async function requireRequest(runtime: Runtime, idOrRun: string, store: string): Promise<Approval> {
  const found = await findRequest(runtime, idOrRun);
  if (found.kind === "request") return found.request;
  if (found.kind === "missing")
    throw new CliError(
      "TOOL_APPROVAL_NOT_FOUND",
      `There is no approval request ${toTerminalName(idOrRun)}, and no run with that id waits for approval.`,
      `List pending requests: ${nextCommand(store, "approvals")}`,
    );
  const { pending, isRequestId } = found;
  const decisions = `${pending.length} decision${pending.length === 1 ? "" : "s"}`;
  throw new CliError(
    "CLI_USAGE",
    isRequestId
      ? `There is no request ${idOrRun}; a run with that id waits for ${decisions}.`
      : `Run ${toTerminalName(idOrRun)} waits for ${decisions}.`,
    `Name one of them: ${pending.map(({ id }) => id).join(", ")}`,
  );
}

/** The library refuses these answers too. Here the error names the commands that fit. @throws CliError */
function assertAnswerFits(
  request: Approval,
  answer: Pick<ApprovalDecision, "resolution" | "approvedArgs">,
  { store, resume }: DecisionOptions,
): void {
  const { id, nodeId, toolName } = request;
  const problem = problemWithAnswer(request, answer);
  if (problem === undefined) return;
  if (problem === "task-has-no-arguments") {
    throw new CliError(
      "CLI_USAGE",
      `The request ${id} is about the task ${toTerminalName(nodeId)}, which has no arguments to edit.`,
      "Leave --args out.",
    );
  }
  throw new CliError(
    "TOOL_OPTION_INVALID",
    problem === "needs-resolution"
      ? `The request ${id} is about an interrupted call of "${toolName}": a bare approve or deny does not answer it. Choose one of three answers.`
      : `The request ${id} is not about an interrupted call, so --${answer.resolution} does not answer it.`,
    stepLines(toTypedSteps(store, answerSteps(request, { resume: resume === true })), "").join("\n"),
  );
}

/** Checked before the decision is recorded: with `--resume`, either both happen or neither. @throws CliError */
async function assertResumable(
  screen: Screen,
  runtime: Runtime,
  request: Approval,
  options: DecisionOptions,
): Promise<void> {
  const { id, runId } = request;
  if (await isOfRevert(runtime, request)) {
    throw new CliError(
      "CLI_USAGE",
      `The request ${id} is about a revert of run ${toTerminalName(runId)}, which cannot be resumed. Nothing was decided.`,
      `Decide without --resume, then continue: ${nextCommand(options.store, "revert", runId)}`,
    );
  }
  if ((await workflowRunOf(runtime, request)) === undefined) {
    throw new CliError(
      "CLI_USAGE",
      `The request ${id} belongs to run ${toTerminalName(runId)}, which is not a workflow run, so --resume cannot resume it. Nothing was decided.`,
      "Decide without --resume, then run the program or the command again.",
    );
  }
  const { fileToResume } = await import("./resume-run.ts");
  await fileToResume(screen, runId, options);
}

async function resumeAfter(screen: Screen, settled: Approval, options: DecisionOptions): Promise<number> {
  const { resumeRun } = await import("./resume-run.ts");
  try {
    return await resumeRun(screen, settled.runId, options, settled);
  } catch (error) {
    const { code, message, hint } = toErrorReport(error);
    throw new CliError(code, `The decision is recorded, but the run was not resumed: ${message}`, hint);
  }
}

function decisionLine(screen: Screen, { id, status, resolution }: Approval): string {
  return `${screen.paint(status === "approved" ? "green" : "red", resolution ?? status)} ${id}`;
}

async function howToContinue(runtime: Runtime, settled: Approval, store: string): Promise<string[]> {
  const { runId, status } = settled;
  if (await isOfRevert(runtime, settled)) return [`Continue with:  ${nextCommand(store, "revert", runId)}`];
  const run = await workflowRunOf(runtime, settled);
  if (run?.hasFile === false)
    return ["Continue with the program that started it: run it again. Or resume it here with --file <file>."];
  if (run !== undefined) return [`Continue with:  ${nextCommand(store, "resume", runId)}`];
  const then = status === "approved" ? "it continues with this decision" : "it receives the denial";
  if (runId.startsWith("mcp-")) return [`Make the same call again from the MCP client: ${then}.`];
  const { kind } = await runtime.describeRun(runId);
  if (kind === "tool") return [`Run the same command again with --run-id ${printedWord(runId)}: ${then}.`];
  return [`Run the program again, with the same run id ${toTerminalName(runId)}: ${then}.`];
}
