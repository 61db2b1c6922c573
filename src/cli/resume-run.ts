/** Resumes a run by its id. The store holds the path of its file. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Approval } from "../invoke/approval.ts";
import { CliError, ownedElsewhere } from "./cli-error.ts";
import { EXIT } from "./command.ts";
import { nextCommand, syntaxFor } from "./command-name.ts";
import { findWorkflowFile } from "./load-workflow.ts";
import { withAnyRun, withRun } from "./open.ts";
import { requireRun } from "../operate/describe-run.ts";
import { findRun } from "../operate/find-run.ts";
import { describeOwner, readLivingOwner } from "../operate/run-owner.ts";
import { isOver } from "../operate/run-status.ts";
import { type ResumeAnswer, requestResume } from "../operate/steer-run.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";
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
  const handedOver = options.file === undefined ? await handOver(options.store, runId) : undefined;
  if (handedOver !== undefined) {
    screen.printJson(handedOver);
    screen.print(`Run ${toTerminalName(runId)}: ${handedOver.message}`);
    if (handedOver.command !== null) screen.print(`  ${handedOver.command}`);
    return EXIT.waiting;
  }
  return runFile(screen, {
    store: options.store,
    file: await fileToResume(screen, runId, options),
    config: await loadSettingsFor(screen),
    runId,
    resume: true,
    ask: options.ask,
    wait: options.wait,
    decision,
    run: toRunOptions(options),
  });
}

/**
 * A run without a file on this machine cannot be resumed here: an agent, a program, or a workflow that was enqueued by name. A
 * worker that knows it takes it. `undefined` if it is resumed here, or by no worker.
 */
async function handOver(store: string, runId: string): Promise<ResumeAnswer | undefined> {
  return withAnyRun(store, runId, async (opened) => {
    const found = await findRun(opened, runId);
    const file = found.kind === "workflow" ? found.run.file : null;
    if (file !== null && existsSync(file)) return undefined;
    const { summary } = await requireRun(opened, runId);
    if (summary.status === "finished") return undefined;
    const answer = await requestResume(opened, runId, syntaxFor(store));
    return answer.by === "worker" ? answer : undefined;
  });
}

/** Finds the file of a run before any of its code is loaded. @throws CliError if the run cannot be resumed */
export async function fileToResume(screen: Screen, runId: string, options: ResumeOptions): Promise<string> {
  const { store } = options;
  const file = await withRun(store, runId, async (opened, run) => {
    if (run.status === "finished") {
      throw new CliError(
        "CLI_RUN_FINISHED",
        `Run "${runId}" is finished; there is nothing to resume.`,
        `See its result: ${nextCommand(store, "inspect", runId)}`,
      );
    }
    // Checked before the file is imported: importing it may have side effects.
    const owner = run.status === "running" ? await readLivingOwner(opened, run.ownerId) : undefined;
    if (owner !== undefined) throw ownedElsewhere(runId, describeOwner(owner));
    if (run.isCancelRequested && !isOver(run.status))
      screen.print(
        `Run "${runId}" was asked to stop, and its process ended first: it is cancelled now. Resume it again to continue.`,
      );
    return run.file;
  });
  if (options.file === undefined) return storedFile(file, store, runId);
  const named = findWorkflowFile(options.file, (await loadSettingsFor(screen))?.workflows);
  if (existsSync(named)) return named;
  throw new CliError("CLI_FILE_MISSING", `There is no file ${resolve(named)}.`, "Name the file with --file.");
}

function storedFile(file: string | null, store: string, runId: string): string {
  if (file !== null && existsSync(file)) return file;
  throw new CliError(
    "CLI_FILE_MISSING",
    file === null
      ? `Run "${runId}" was started by a program, so its file is not stored.`
      : `The file of run "${runId}", ${file}, no longer exists.`,
    `Name it: ${nextCommand(store, "resume", runId, ["--file", "workflow.tsx"])}`,
  );
}
