/** Options that `up` and `resume` share. A resume uses the stored options of the start, unless they are given again. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { givenSettingOptions, type SettingOptions } from "../definition/tool-settings.ts";
import type { RunWorkflowOptions } from "../workflow/run-workflow.ts";
import { CliError } from "./cli-error.ts";
import type { ConfigSettings } from "./load-config.ts";
import { wholeNumber } from "./parse-options.ts";
import type { CommonOptions } from "./screen.ts";

export interface RunOptions extends CommonOptions, SettingOptions {
  readonly rootDir?: string;
  readonly concurrency?: number;
  readonly acceptChanges?: boolean;
  readonly ask?: boolean;
  readonly wait?: boolean;
}

export function withRunOptions(command: Command): Command {
  return command
    .option(
      "--root-dir <folder>",
      "the folder that tools may use (default: the config's, else the folder of the file)",
    )
    .option("--allow-network", "allow network access for commands that tools run")
    .option("--no-allow-network", "deny network access for a run that was started with it")
    .option("--max-output-bytes <bytes>", "the largest output of a tool", wholeNumber(1))
    .option("--tool-timeout-ms <ms>", "the timeout of a command that a tool runs", wholeNumber(1))
    .addOption(
      new Option("--isolation <mode>", "how commands that tools run are confined").choices([
        "require",
        "auto",
        "off",
      ]),
    )
    .option("--concurrency <tasks>", "how many tasks may run at a time", wholeNumber(1))
    .option("--ask", "ask for approvals on this terminal, then resume the run")
    .option("--wait", "stay while the run waits for a time, a signal or an approval");
}

/** Checked before the run starts. @throws CliError */
export function assertCanAsk({ ask }: RunOptions): void {
  if (ask !== true || (process.stdin.isTTY && process.stderr.isTTY)) return;
  throw new CliError(
    "CLI_USAGE",
    "--ask needs a terminal: it asks on stderr and reads the answers from stdin.",
    "Leave --ask out. A run that waits for approval then prints the questions with the commands that decide them, and exits with 3.",
  );
}

/** The options that flags set. A resumed run uses its stored values for the others. @throws CliError */
export function toRunOptions(options: RunOptions): Partial<RunWorkflowOptions> {
  const { rootDir } = options;
  if (rootDir !== undefined && statSync(rootDir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new CliError(
      "CLI_ROOT_MISSING",
      `There is no folder ${resolve(rootDir)}.`,
      "Name the folder that tools may use with --root-dir.",
    );
  }
  return {
    rootDir,
    ...givenSettingOptions(options),
    maxConcurrency: options.concurrency,
    acceptChanges: options.acceptChanges,
  };
}

/** The same for a new run: a flag wins over the config. The result is stored and used by each resume. */
export function toStartOptions(
  options: RunOptions,
  config: ConfigSettings | undefined,
): Partial<RunWorkflowOptions> {
  const flags = toRunOptions(options);
  return {
    allowNetwork: false,
    ...givenSettingOptions(config ?? {}),
    ...flags,
    rootDir: flags.rootDir ?? config?.rootDir,
  };
}
