/** How a call ended, for programs and for people. */
import type { Command } from "commander";
import type { ToolwrightError } from "../../errors.ts";
import type { Approval } from "../../invoke/approval.ts";
import { copyError, toToolwrightError } from "../../invoke/error-record.ts";
import type { Outcome } from "../../invoke/outcome.ts";
import { specOf } from "../../tool/create-callable.ts";
import { pendingError } from "../../tool/model-answer.ts";
import type { Tool } from "../../tool/tool.ts";
import { toShownValue } from "../../util/shown-value.ts";
import {
  toTerminalBlock,
  toTerminalJson,
  toTerminalLine,
  toTerminalName,
  toTerminalText,
} from "../../terminal/terminal-text.ts";
import { commandPath } from "./command-help.ts";
import { EXIT_CODES, exitCodeOf } from "./exit-codes.ts";
import { showOutput } from "./show-output.ts";

export interface Answer {
  readonly exitCode: number;
  /** What --json prints: the output, or the one error shape. */
  readonly json: unknown;
  /** For people, on stdout and on stderr. */
  readonly text: string;
  readonly complaint: string;
}

export interface AnswerContext {
  readonly command: Command;
  readonly isDebug: boolean;
}

export function answerOutcome(
  outcome: Exclude<Outcome, { status: "pending" }>,
  context: AnswerContext,
): Answer {
  if (outcome.status !== "success") {
    const answer = answerError(outcome.error, context);
    return outcome.replayed ? { ...answer, complaint: answer.complaint + RECORDED } : answer;
  }
  const json = toShownValue(outcome.output) ?? null;
  const said = outcome.note === undefined ? "" : `note: ${toTerminalLine(outcome.note)}\n`;
  const note = outcome.replayed ? said + RECORDED : said;
  if (!isErrorResult(json)) {
    return {
      exitCode: EXIT_CODES.ok,
      json,
      // A pipe gets every byte; a terminal nothing that would take it over.
      text: process.stdout.isTTY ? toTerminalText(showOutput(json)) : showOutput(json),
      complaint: note,
    };
  }
  const { message, next_action_hint: hint } = json;
  const failure =
    typeof message === "string"
      ? errorText(message, typeof hint === "string" ? hint : "")
      : toTerminalText(showOutput(json));
  return { exitCode: EXIT_CODES.failed, json, text: "", complaint: failure + note };
}

const RECORDED =
  "note: this is the recorded answer of this run; nothing was run now. Use another run id to start over.\n";

export function answerError(thrown: unknown, { command, isDebug }: AnswerContext): Answer {
  const error = toToolwrightError(thrown, command.name());
  const usage =
    error.code === "TOOL_INPUT_INVALID" ? `  Usage: ${commandPath(command)} ${command.usage()}\n` : "";
  const { stack = "" } = error.cause instanceof Error ? error.cause : error;
  const shown = isDebug ? `  | ${toTerminalBlock(stack)}\n` : "";
  return {
    exitCode: exitCodeOf(error.code),
    json: error.toModel(),
    text: "",
    complaint: errorText(error.message, error.hint) + usage + shown,
  };
}

/** What to do about a call that was stopped. */
export function resumeLines(resume: string): string[] {
  return [
    "  It may have happened. To resume the call, run the same command again with:",
    `    ${toTerminalLine(resume)}`,
  ];
}

/** The call was stopped by a signal. The same command under the same run id resumes it. */
export function answerStopped(
  error: ToolwrightError,
  { runId, resume }: { readonly runId: string; readonly resume: string },
  context: AnswerContext,
): Answer {
  const what = error.effect === "none" ? "Nothing was run." : "It may have happened.";
  const stopped = copyError(error, {
    hint: `${what} To resume the call, run the same command again with ${resume}.`,
  });
  const answer = answerError(stopped, context);
  return { ...answer, json: { ...stopped.toModel(), run_id: runId } };
}

export interface OpenRequest {
  readonly approval: Approval;
  /** What settles it, and what each command does. */
  readonly answers: readonly { readonly label: string; readonly command: string }[];
}

/** The rows stay where they are: whoever may decide types one of the commands, and the caller the other. */
export function answerPending(tool: Tool, requests: readonly OpenRequest[], goOn: string): Answer {
  const ids = requests.map(({ approval }) => approval.id);
  const [first] = requests;
  const commands = requests.map(hintFor).join(" Then: ");
  const lines = requests.flatMap(({ approval: { kind, prompt, toolName, args }, answers }) => [
    `waiting: ${toTerminalBlock(prompt)}`,
    `  ${toTerminalName(toolName)} ${toTerminalJson(args, 0)}`,
    ...(kind === "replay"
      ? answers.flatMap(({ label, command }) => [`  ${label}:`, `    ${toTerminalLine(command)}`])
      : answers.slice(0, 1).map(({ label, command }) => `  ${label}:  ${toTerminalLine(command)}`)),
  ]);
  return {
    exitCode: EXIT_CODES.waiting,
    json: {
      ...(first === undefined ? {} : pendingError(specOf(tool), first.approval).toModel()),
      next_action_hint: `${commands} Then run the same command again with ${goOn}.`,
      approval_id: ids[0],
      approval_ids: ids,
      run_id: first?.approval.runId,
    },
    text: "",
    complaint: `${[...lines, `Then run the same command again with:  ${toTerminalLine(goOn)}`].join("\n")}\n`,
  };
}

function hintFor({ approval: { kind }, answers }: OpenRequest): string {
  const listed = answers.map(({ label, command }) =>
    kind === "replay" ? `"${command}" (${label})` : `"${command}"`,
  );
  return kind === "replay"
    ? `Answer with one of: ${listed.join("; ")}.`
    : `Approve it with ${listed[0] ?? ""}, or deny it with ${listed[1] ?? ""}.`;
}

function errorText(message: string, hint: string): string {
  return `error: ${toTerminalBlock(message)}\n${hint === "" ? "" : `  ${toTerminalLine(hint)}\n`}`;
}

function isErrorResult(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && "is_error" in value && value.is_error === true;
}
