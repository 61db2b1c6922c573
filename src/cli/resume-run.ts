/** Goes on with a run by its id alone: the file is on record. */
import { existsSync } from "node:fs";
import { CliError } from "./cli-error.ts";
import { nextCommand } from "./command-name.ts";
import { withRun } from "./open.ts";
import { describeOwner, readLivingOwner } from "./owner.ts";
import { runFile } from "./run-file.ts";
import { type RunOptions, toRunOptions } from "./run-options.ts";
import type { Screen } from "./screen.ts";

export async function resumeRun(
  screen: Screen,
  runId: string | undefined,
  options: RunOptions & { readonly file?: string },
): Promise<number> {
  const { store } = options;
  if (runId === undefined)
    throw new CliError("CLI_USAGE", "--resume needs --run-id.", "toolwright ps lists the runs of a store.");
  const file = await withRun(store, runId, async (opened, run) => {
    if (run.status === "finished") {
      throw new CliError(
        "CLI_RUN_FINISHED",
        `Run "${runId}" is finished; there is nothing to go on with.`,
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
  return runFile(screen, {
    store,
    file: options.file ?? recorded(file, store, runId),
    runId,
    resume: true,
    run: toRunOptions(options),
  });
}

function recorded(file: string | null, store: string, runId: string): string {
  if (file !== null && existsSync(file)) return file;
  throw new CliError(
    "CLI_FILE_MISSING",
    file === null
      ? `Run "${runId}" was started by a program, so its file is not on record.`
      : `The file of run "${runId}", ${file}, is not there any more.`,
    `Name it: ${nextCommand(store, "resume", runId, ["--file", "workflow.tsx"])}`,
  );
}
