/** Options that `up` and `resume` share: those of the start are on record and hold for a resume, unless given again. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { RunWorkflowOptions } from "../workflow/run-workflow.ts";
import { CliError } from "./cli-error.ts";
import type { ConfigSettings } from "./load-config.ts";
import { wholeNumber } from "./parse-options.ts";
import type { CommonOptions } from "./screen.ts";

export interface RunOptions extends CommonOptions {
  readonly rootDir?: string;
  readonly allowNetwork?: boolean;
  readonly maxOutputBytes?: number;
  readonly toolTimeoutMs?: number;
  readonly isolation?: "require" | "auto" | "off";
  readonly concurrency?: number;
  readonly acceptChanges?: boolean;
  readonly ask?: boolean;
}

export function withRunOptions(command: Command): Command {
  return command
    .option("--root-dir <folder>", "the folder that tools may use (default: that of the file)")
    .option("--allow-network", "let commands of tools use the network")
    .option("--no-allow-network", "take it back, for a run that was started with it")
    .option("--max-output-bytes <bytes>", "what the output of a tool may hold at most", wholeNumber(1))
    .option("--tool-timeout-ms <ms>", "how long a command of a tool may take", wholeNumber(1))
    .addOption(
      new Option("--isolation <mode>", "how commands of tools are confined").choices([
        "require",
        "auto",
        "off",
      ]),
    )
    .option("--concurrency <tasks>", "tasks at a time", wholeNumber(1))
    .option("--ask", "ask about approvals on this terminal, then resume the run");
}

/** Before anything is run. @throws CliError */
export function assertCanAsk({ ask }: RunOptions): void {
  if (ask !== true || (process.stdin.isTTY && process.stderr.isTTY)) return;
  throw new CliError(
    "CLI_USAGE",
    "--ask needs a terminal: it asks on stderr and reads the answers from stdin.",
    "Leave --ask out. A run that waits for approval then prints the questions with the commands that decide them, and exits with 3.",
  );
}

/** What the flags say. What they leave open is the stored value of a run that is resumed. @throws CliError */
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
    allowNetwork: options.allowNetwork,
    maxOutputBytes: options.maxOutputBytes,
    toolTimeoutMs: options.toolTimeoutMs,
    isolation: options.isolation,
    maxConcurrency: options.concurrency,
    acceptChanges: options.acceptChanges,
  };
}

/** The same for a new run: a flag wins over the config. What it starts with is stored, and holds for its resumes. */
export function toStartOptions(
  options: RunOptions,
  config: ConfigSettings | undefined,
): Partial<RunWorkflowOptions> {
  const flags = toRunOptions(options);
  return {
    ...flags,
    rootDir: flags.rootDir ?? config?.rootDir,
    allowNetwork: flags.allowNetwork ?? config?.allowNetwork ?? false,
    maxOutputBytes: flags.maxOutputBytes ?? config?.maxOutputBytes,
    toolTimeoutMs: flags.toolTimeoutMs ?? config?.toolTimeoutMs,
    isolation: flags.isolation ?? config?.isolation,
  };
}
