/** Turns the outcome of a call into an exit code, JSON for programs and text for people. */
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
  /** Printed with --json: the output, or an error in the standard shape. */
  readonly json: unknown;
  /** For people: `text` on stdout, `complaint` on stderr. */
  readonly text: string;
  readonly complaint: string;
}

export interface AnswerContext {
  readonly command: Command;
  readonly isDebug: boolean;
}

export function renderOutcome(
  outcome: Exclude<Outcome, { status: "pending" }>,
  context: AnswerContext,
): Answer {
  if (outcome.status !== "success") {
    const answer = renderError(outcome.error, context);
    return outcome.replayed ? { ...answer, complaint: answer.complaint + REPLAYED } : answer;
  }
  const json = toShownValue(outcome.output) ?? null;
  const own = outcome.note === undefined ? "" : `note: ${toTerminalLine(outcome.note)}\n`;
  const note = outcome.replayed ? own + REPLAYED : own;
  if (!isErrorResult(json)) {
    return {
      exitCode: EXIT_CODES.ok,
      json,
      // A pipe gets every byte; a terminal gets no control sequences.
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

const REPLAYED =
  "note: this is the logged result of this run; the tool did not run again. Use another run id to start over.\n";

export function renderError(thrown: unknown, { command, isDebug }: AnswerContext): Answer {
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

/** How to resume a call that was stopped. */
export function resumeLines(resume: string): string[] {
  return [
    "  The effect may have happened. To resume the call, run the same command again with:",
    `    ${toTerminalLine(resume)}`,
  ];
}

/** A signal stopped the call. The same command with the same run id resumes it. */
export function renderStopped(
  error: ToolwrightError,
  { runId, resume }: { readonly runId: string; readonly resume: string },
  context: AnswerContext,
): Answer {
  const what = error.effect === "none" ? "The tool did not run." : "The effect may have happened.";
  const stopped = copyError(error, {
    hint: `${what} To resume the call, run the same command again with ${resume}.`,
  });
  const answer = renderError(stopped, context);
  return { ...answer, json: { ...stopped.toModel(), run_id: runId } };
}

export interface OpenRequest {
  readonly approval: Approval;
  /** The commands that decide it, each with a description. */
  readonly answers: readonly { readonly label: string; readonly command: string }[];
}

/** The request stays pending: an approver runs one of the commands, then the caller runs the same command again. */
export function renderPending(tool: Tool, requests: readonly OpenRequest[], resume: string): Answer {
  const ids = requests.map(({ approval }) => approval.id);
  const [first] = requests;
  const commands = requests.map(hintFor).join(" Then: ");
  const lines = requests.flatMap(({ approval: { kind, prompt, toolName, args }, answers }) => [
    `waiting: ${toTerminalBlock(prompt)}`,
    `  ${toTerminalName(toolName)} ${toTerminalJson(args, 0)}`,
    ...(kind === "replay"
      ? answers.flatMap(({ label, command }) => [`  ${label}:`, `    ${toTerminalLine(command)}`])
      : answers.map(({ label, command }) => `  ${label}:  ${toTerminalLine(command)}`)),
  ]);
  return {
    exitCode: EXIT_CODES.waiting,
    json: {
      ...(first === undefined ? {} : pendingError(specOf(tool), first.approval).toModel()),
      next_action_hint: `${commands} Then run the same command again with ${resume}.`,
      approval_id: ids[0],
      approval_ids: ids,
      run_id: first?.approval.runId,
    },
    text: "",
    complaint: `${[...lines, `Then run the same command again with:  ${toTerminalLine(resume)}`].join("\n")}\n`,
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
