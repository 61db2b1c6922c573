/** Options that `approve` and `deny` share. */
import type { Command } from "commander";
import type { CommonOptions } from "./screen.ts";

export interface DecisionOptions extends CommonOptions {
  readonly by?: string;
  readonly comment?: string;
  readonly resume?: boolean;
  readonly file?: string;
}

export function withDecisionOptions(command: Command): Command {
  return command
    .option("--by <name>", "the name of the approver (default: the current user)")
    .option("--comment <text>", "the reason, for the caller")
    .option("--resume", "resume the run after the decision")
    .option("--file <file>", "with --resume: the workflow file, if it has moved");
}
