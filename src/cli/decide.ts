/** Records a person's decision and says what comes next. */
import { type Approval, toApproval } from "../invoke/approval.ts";
import type { ApprovalDecision } from "../runtime/approvals.ts";
import { createRuntime, hostOf } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readApproval } from "../store/tables/approvals.ts";
import { readRun } from "../store/tables/workflow-runs.ts";
import { systemClock } from "../util/clock.ts";
import { printedWord } from "../terminal/terminal-text.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";
import { userName } from "../util/user-name.ts";
import { answerSteps, stepLines } from "./answer-lines.ts";
import { approvalRow } from "./approval-row.ts";
import { CliError, toComplaint } from "./cli-error.ts";
import { EXIT } from "./command.ts";
import { nextCommand } from "./command-name.ts";
import { assertStoreExists } from "./open.ts";
import type { DecisionOptions } from "./decision-options.ts";
import type { Screen } from "./screen.ts";

/** @param bare what a command without an answer by name means, where the request is not about an interrupted call */
export async function decide(
  screen: Screen,
  options: DecisionOptions,
  named: string,
  bare: boolean,
  answer: Pick<ApprovalDecision, "resolution" | "output" | "approvedArgs">,
): Promise<number> {
  if (options.file !== undefined && options.resume !== true)
    throw new CliError("CLI_USAGE", "--file needs --resume.", "Add --resume, or leave --file out.");
  assertStoreExists(options.store);
  await using runtime = createRuntime({ store: options.store });
  const request = await requestOf(runtime, named);
  if (request === undefined) {
    throw new CliError(
      "TOOL_APPROVAL_NOT_FOUND",
      `There is no approval request ${toTerminalName(named)}, and no run of that name waits for approval.`,
      `List what waits: ${nextCommand(options.store, "approvals")}`,
    );
  }
  if (request.status === "pending") assertAnswers(request, answer, options);
  const { id } = request;
  if (options.resume === true && request.status === "pending")
    await assertResumable(screen, runtime, request, options);
  const settled = await runtime.resolveToolApproval(id, {
    ...answer,
    ...(answer.resolution === undefined ? { approved: bare } : {}),
    decidedBy: options.by ?? userName(),
    comment: options.comment,
  });
  if (options.resume === true) {
    screen.say(`${wordFor(screen, settled)} ${id}`);
    return resumeAfter(screen, settled, options);
  }
  screen.tell(approvalRow(settled));
  screen.say(`${wordFor(screen, settled)} ${id}`);
  const open = await runtime.approvals({ status: "pending", runId: settled.runId });
  if (open.length > 0) screen.say(`  Run ${toTerminalName(settled.runId)} waits for ${open.length} more.`);
  else for (const line of await howToContinue(runtime, settled, options.store)) screen.say(`  ${line}`);
  return EXIT.finished;
}

/** Checked before anything is decided: with `--resume`, either both happen or neither. */
async function assertResumable(
  screen: Screen,
  runtime: Runtime,
  { id, runId }: Approval,
  options: DecisionOptions,
): Promise<void> {
  const host = await hostOf(runtime);
  if ((await host.store.read(() => readRun(runId))) === undefined) {
    throw new CliError(
      "CLI_USAGE",
      `The request ${id} belongs to run ${toTerminalName(runId)}, which is not a workflow's, so --resume cannot resume it. Nothing was decided.`,
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
    const { code, message, hint } = toComplaint(error);
    throw new CliError(code, `The decision is recorded, but the run was not resumed: ${message}`, hint);
  }
}

/** Says which answers there are, as commands, before the library refuses the wrong ones in its own words. */
function assertAnswers(
  request: Approval,
  { resolution, approvedArgs }: Pick<ApprovalDecision, "resolution" | "approvedArgs">,
  { store, resume }: DecisionOptions,
): void {
  if (request.kind === "task" && approvedArgs !== undefined) {
    throw new CliError(
      "CLI_USAGE",
      `The request ${request.id} is about the task ${toTerminalName(request.nodeId)}, which has no arguments to edit.`,
      "Leave --args out.",
    );
  }
  const isInterrupted = request.kind === "replay";
  if (isInterrupted === (resolution !== undefined)) return;
  const steps = stepLines(answerSteps(store, request, { resume: resume === true }), "").join("\n");
  throw new CliError(
    "TOOL_OPTION_INVALID",
    isInterrupted
      ? `The request ${request.id} is about an interrupted call of "${request.toolName}": a bare approve or deny does not answer it. Choose one of three answers.`
      : `The request ${request.id} is not about an interrupted call, so --${resolution} does not answer it.`,
    steps,
  );
}

function wordFor(screen: Screen, { status, resolution }: Approval): string {
  const word = resolution ?? status;
  return screen.paint(status === "approved" ? "green" : "red", word);
}

/** A workflow is resumed, unless that would meet the same denial. A call of a command or a program is made again. */
async function howToContinue(runtime: Runtime, request: Approval, store: string): Promise<string[]> {
  const { runId, status } = request;
  const host = await hostOf(runtime);
  const run = await host.store.read(() => readRun(runId));
  if (run?.file === null)
    return ["Continue with the program that started it: run it again. Or resume it here with --file <file>."];
  if (run !== undefined) return [`Continue with:  ${nextCommand(store, "resume", runId)}`];
  const then = status === "approved" ? "it continues there" : "it reads the denial";
  if (runId.startsWith("mcp-")) return [`Make the same call again from the MCP client: ${then}.`];
  return [
    `Make the same call again in run ${toTerminalName(runId)}: ${then}.`,
    `A program: run it again.  A tool's command: the same command again, with --run-id ${printedWord(runId)}`,
  ];
}

/**
 * A request by its id, or the only one that a run waits for. The id of a request always means that request, also one that
 * was deleted: whoever starts a run chooses its id, and could choose that of a request.
 */
async function requestOf(runtime: Runtime, named: string): Promise<Approval | undefined> {
  const host = await hostOf(runtime);
  const row = await host.store.read(() => readApproval(named, systemClock.now()));
  if (row !== undefined) return toApproval(row);
  const waiting = await runtime.approvals({ status: "pending", runId: named });
  const isRequest = REQUEST_ID.test(named);
  if (waiting.length === 0 || (waiting.length === 1 && !isRequest)) return waiting[0];
  const decisions = `${waiting.length} decision${waiting.length === 1 ? "" : "s"}`;
  throw new CliError(
    "CLI_USAGE",
    isRequest
      ? `There is no request ${named}; a run of that name waits for ${decisions}.`
      : `Run ${toTerminalName(named)} waits for ${decisions}.`,
    `Name one of them: ${waiting.map(({ id }) => id).join(", ")}`,
  );
}

const REQUEST_ID = /^apr_/i;
