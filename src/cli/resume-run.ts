/** Goes on with a run by its id alone: the file is on record. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Approval } from "../invoke/approval.ts";
import { CliError } from "./cli-error.ts";
import { nextCommand } from "./command-name.ts";
import { findWorkflowFile } from "./load-workflow.ts";
import { withRun } from "./open.ts";
import { describeOwner, readLivingOwner } from "./owner.ts";
import { loadSettingsFor } from "./project-settings.ts";
import { runFile } from "./run-file.ts";
import { assertCanAsk, type RunOptions, toRunOptions } from "./run-options.ts";
import type { Screen } from "./screen.ts";

export interface ResumeOptions extends RunOptions {
  readonly file?: string;
}

export async function resumeRun(
  screen: Screen,
  runId: string | undefined,
  options: ResumeOptions,
  decision?: Approval,
): Promise<number> {
  if (runId === undefined)
    throw new CliError(
      "CLI_USAGE",
      "--resume needs --run-id.",
      `List the runs: ${nextCommand(options.store, "ps")}`,
    );
  assertCanAsk(options);
  return runFile(screen, {
    store: options.store,
    file: await fileToResume(screen, runId, options),
    config: await loadSettingsFor(screen),
    runId,
    resume: true,
    ask: options.ask,
    decision,
    run: toRunOptions(options),
  });
}

/** Finds what is needed to resume a run, before anything of it is loaded. @throws CliError where it cannot be resumed */
export async function fileToResume(screen: Screen, runId: string, options: ResumeOptions): Promise<string> {
  const { store } = options;
  const file = await withRun(store, runId, async (opened, run) => {
    if (run.status === "finished") {
      throw new CliError(
        "CLI_RUN_FINISHED",
        `Run "${runId}" is finished; there is nothing to resume.`,
        `See what came of it: ${nextCommand(store, "inspect", runId)}`,
      );
    }
    // Before anything of the file is run: importing it may have effects of its own.
    const owner = run.status === "running" ? await readLivingOwner(opened, run.ownerId) : undefined;
    if (owner !== undefined) {
      throw new CliError(
        "TOOL_RUN_CONFLICT",
        `Run "${runId}" is in the hands of ${describeOwner(owner)}.`,
        "Wait until it has ended, or stop that process; nothing was changed here.",
      );
    }
    if (run.isCancelRequested && (run.status === "running" || run.status === "waiting-approval"))
      screen.say(
        `Run "${runId}" was asked to stop before its process ended: it is cancelled now. Resume it again to continue.`,
      );
    return run.file;
  });
  if (options.file === undefined) return recorded(file, store, runId);
  const named = findWorkflowFile(options.file, (await loadSettingsFor(screen))?.workflows);
  if (existsSync(named)) return named;
  throw new CliError("CLI_FILE_MISSING", `There is no file ${resolve(named)}.`, "Name the file with --file.");
}

function recorded(file: string | null, store: string, runId: string): string {
  if (file !== null && existsSync(file)) return file;
  throw new CliError(
    "CLI_FILE_MISSING",
    file === null
      ? `Run "${runId}" was started by a program, so its file is not stored.`
      : `The file of run "${runId}", ${file}, is not there any more.`,
    `Name it: ${nextCommand(store, "resume", runId, ["--file", "workflow.tsx"])}`,
  );
}
