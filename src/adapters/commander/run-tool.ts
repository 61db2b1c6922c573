/** Runs a generated command: makes one call, shows its progress, asks for approvals, and sets the exit code. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { ToolwrightError } from "../../errors.ts";
import type { Approval } from "../../invoke/approval.ts";
import { answersTo } from "../../invoke/approvals/answers.ts";
import type { Outcome } from "../../invoke/outcome.ts";
import { findInputError } from "../../invoke/policies/validate.ts";
import { RUN_AS, type Runtime } from "../../runtime/runtime.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { Tool } from "../../tool/tool.ts";
import { reserveStdout } from "../../terminal/reserve-stdout.ts";
import { printedWord, toTerminalJson } from "../../terminal/terminal-text.ts";
import { stopOnSignals } from "../../terminal/stop-on-signals.ts";
import { whenDrained } from "../../terminal/when-drained.ts";
import {
  type Answer,
  type AnswerContext,
  renderError,
  renderOutcome,
  renderPending,
  renderStopped,
  type OpenRequest,
  resumeLines,
} from "./render-outcome.ts";
import { promptApprover, isTerminal } from "./prompt-approver.ts";
import { collectInput, UsageError } from "./collect-input.ts";
import { type CommandSettings, INPUT, type OwnValues, RUN_ID } from "./command-settings.ts";
import { EXIT_CODES, exitCodeOfSignal } from "./exit-codes.ts";
import type { InputPlan } from "./plan-input.ts";
import { showProgressLine } from "./progress-line.ts";

export interface ToolCommand {
  readonly command: Command;
  readonly tool: Tool;
  readonly input: InputPlan;
  /** The names under which Commander stores the options that are not fields of the tool. */
  readonly own: Readonly<Record<string, string>>;
  readonly settings: CommandSettings;
}

export async function runTool(given: ToolCommand): Promise<void> {
  const { command } = given;
  const values = ownValues(given);
  const args = await inputOf(given, values);
  if (args === undefined) return;
  const runId = typeof values[RUN_ID.name] === "string" ? String(values[RUN_ID.name]) : randomUUID();
  const resume = `${optionOf(given, RUN_ID.name)} ${printedWord(runId)}`;
  // With --json, only the answer goes to stdout.
  const restore = command.optsWithGlobals()["json"] === true ? reserveStdout() : () => undefined;
  using stop = stopOnSignals({
    // Printed immediately: a second signal ends the process immediately.
    onFirst: (name) =>
      process.stderr.write(
        `${name}: stopping the call; send it again to exit immediately.\n${resumeLines(resume).join("\n")}\n`,
      ),
    onOverdue: () => process.stderr.write("The call does not stop; exiting.\n"),
    exitCode: exitCodeOfSignal,
  });
  const finish = (answer: Answer): void => {
    restore();
    write(command, answer);
  };
  using _ = whenDrained(() => {
    finish(renderError(stalledError(given.tool), contextOf(given, values)));
    process.exit(EXIT_CODES.failed);
  });
  const answer = await callAndAnswer(given, values, args.input, { runId, resume, signal: stop.signal });
  finish(answer);
  // A tool that ignores its signal would keep the process alive.
  if (stop.received !== undefined) process.exit(exitCodeOfSignal(stop.received));
  if (answer.exitCode !== 0) process.exitCode = answer.exitCode;
}

/** `undefined` for invalid input, whose error is already printed. */
async function inputOf(given: ToolCommand, values: OwnValues): Promise<{ input: unknown } | undefined> {
  const { command, tool, own } = given;
  const text = values[INPUT.name];
  const label = optionOf({ command, own }, INPUT.name);
  try {
    const whole = { label, text: typeof text === "string" ? text : undefined };
    const { input, unread } = await collectInput(command, given.input, whole);
    if (unread.length === 0) return { input };
    const error = await findInputError(specOf(tool), input);
    // The schema accepts any value, but the text still does not match the type of its option.
    if (error === undefined) throw new UsageError(unread.join(" "));
    const { exitCode, ...answer } = renderError(withNotes(error, unread), contextOf(given, values));
    write(command, answer);
    process.exitCode = exitCode;
    return undefined;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return command.error(`error: ${error.message}`, { code: "toolwright.usage" });
  }
}

/** Adds the expected values of each option to the hint of the validation error. */
function withNotes(error: ToolwrightError, notes: readonly string[]): ToolwrightError {
  const { code, message, details, hint } = error;
  return new ToolwrightError(code, message, { details, effect: "none", hint: [hint, ...notes].join(" ") });
}

async function callAndAnswer(
  given: ToolCommand,
  values: OwnValues,
  args: unknown,
  run: CommandRun,
): Promise<Answer> {
  const { settings } = given;
  const context = contextOf(given, values);
  try {
    await using opened = await settings.open(values);
    const outcome = await callUntilDecided(opened.runtime, given.tool, args, run);
    if (outcome.status === "error" && outcome.error.code === "TOOL_ABORTED" && run.signal.aborted)
      return renderStopped(outcome.error, run, context);
    if (outcome.status !== "pending") return renderOutcome(outcome, context);
    const requests = await openRequests(opened.runtime, outcome.approval, (words) =>
      settings.decideCommand(words, values, opened.runtime),
    );
    return renderPending(given.tool, requests, run.resume);
  } catch (error) {
    return renderError(error, context);
  }
}

function contextOf({ command }: ToolCommand, values: OwnValues): AnswerContext {
  return { command, isDebug: values["debug"] === true };
}

function stalledError({ name }: Tool): ToolwrightError {
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `Tool "${name}" awaits a promise that can never settle: no timer, request or process is pending.`,
    { hint: "Fix the tool. The call is logged as interrupted." },
  );
}

/** All pending approvals of the run: inner calls may have requested several at once. */
async function openRequests(
  runtime: Runtime,
  first: Approval,
  commandFor: (words: readonly string[]) => string | Promise<string>,
): Promise<OpenRequest[]> {
  const others = await runtime.approvals({ status: "pending", runId: first.runId });
  const all = [first, ...others.filter(({ id }) => id !== first.id)];
  return Promise.all(
    all.map(async (approval) => ({
      approval,
      answers: await Promise.all(
        answersTo(approval).map(async ({ label, words }) => ({ label, command: await commandFor(words) })),
      ),
    })),
  );
}

interface CommandRun {
  readonly runId: string;
  /** The option with which the same command resumes this call. */
  readonly resume: string;
  readonly signal: AbortSignal;
}

/** At a terminal, asks the user until no approval is pending or the user leaves one open. */
async function callUntilDecided(
  runtime: Runtime,
  tool: Tool,
  args: unknown,
  run: CommandRun,
): Promise<Outcome> {
  for (;;) {
    const outcome = await callWithProgress(runtime, tool, args, run);
    if (outcome.status !== "pending" || !isTerminal()) return outcome;
    const requests = await runtime.approvals({ status: "pending", runId: run.runId });
    if (!(await promptApprover(runtime, requests, run.signal))) return outcome;
  }
}

async function callWithProgress(
  runtime: Runtime,
  tool: Tool,
  args: unknown,
  { runId, signal }: CommandRun,
): Promise<Outcome> {
  using line =
    process.stderr.isTTY && process.env["TERM"] !== "dumb" ? showProgressLine(tool.name) : undefined;
  const unsubscribe = line === undefined ? () => undefined : runtime.subscribe(line.onEvent);
  try {
    // A fixed key makes it the same call after a decision, and in another process with the same run id.
    const listed = { runId, signal, callKey: "command", [RUN_AS]: { kind: "tool", name: tool.name } };
    return await runtime.call(tool, args, listed);
  } finally {
    unsubscribe();
  }
}

function write(command: Command, { json, text, complaint }: Omit<Answer, "exitCode">): void {
  const screen = command.configureOutput();
  if (command.optsWithGlobals()["json"] === true) screen.writeOut?.(`${toTerminalJson(json)}\n`);
  else if (text !== "") screen.writeOut?.(text);
  if (complaint !== "") screen.writeErr?.(complaint);
}

function ownValues({ command, own }: ToolCommand): OwnValues {
  const all: Readonly<Record<string, unknown>> = command.opts();
  return Object.fromEntries(Object.entries(own).map(([name, attribute]) => [name, all[attribute]]));
}

/** The spelling of an option that is not a field of the tool. */
function optionOf({ command, own }: Pick<ToolCommand, "command" | "own">, name: string): string {
  return command.options.find((option) => option.attributeName() === own[name])?.long ?? `--${name}`;
}
