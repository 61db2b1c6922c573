/** Command lines that an operator can paste. */
import { printedWord } from "../terminal/terminal-text.ts";
import type { RunStep } from "../runtime/runs.ts";
import type { CommandFlag, NextStep } from "./next-step.ts";

/** How the command line is called. */
export interface CommandSyntax {
  /** Such as `npx toolwright`. */
  readonly program: string;
  /** The value of `--store`. `undefined` where the command finds the store without it. */
  readonly store: string | undefined;
}

export function toCommand(
  { program, store }: CommandSyntax,
  command: string,
  words: readonly (string | CommandFlag)[],
): string {
  const operands = words.filter((word) => typeof word === "string");
  const flags = [
    ...words.filter((word) => typeof word !== "string"),
    ...(store === undefined ? [] : [["--store", store] as const]),
  ].flat();
  // An id may begin with a dash.
  const hasDash = operands.some((word) => word.startsWith("-"));
  const rest = hasDash ? [...flags, "--", ...operands] : [...operands, ...flags];
  return [program, command, ...rest.map(printedWord)].join(" ");
}

export function toTypedStep(syntax: CommandSyntax, { action, label, operands, flags }: NextStep): RunStep {
  return {
    action,
    label: label ?? LABELS[action] ?? action,
    command: toCommand(syntax, action, [...operands, ...flags]),
  };
}

const LABELS: Readonly<Record<string, string>> = {
  approve: "Approve it",
  deny: "Deny it",
  approvals: "List the requests",
  calls: "List its calls",
  cancel: "Cancel the run",
  fork: "Fork the run",
  revert: "Revert what is left",
  inspect: "Show the run",
  ps: "List the runs",
  resume: "Resume the run",
  signal: "Send the signal",
  worker: "Start a worker",
  why: "Explain the run",
};
