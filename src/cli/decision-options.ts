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
    .option("--by <name>", "who decides (default: the user of this system)")
    .option("--comment <text>", "why; the caller reads it")
    .option("--resume", "resume the run right after the decision")
    .option("--file <file>", "with --resume: the file of the workflow, if it has moved");
}
