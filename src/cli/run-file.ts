/** Runs a workflow from its file, for `up` and `resume`: shows its progress, stops on signals, and prints its result. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { promptApprover } from "../adapters/commander/prompt-approver.ts";
import { ToolwrightError } from "../errors.ts";
import type { SettingOptions } from "../definition/tool-settings.ts";
import type { Approval } from "../invoke/approval.ts";
import { createRuntime, hostOf } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type RunWorkflowOptions, runWorkflow, type WorkflowResult } from "../workflow/run-workflow.ts";
import type { WorkflowDefinition } from "../workflow/create-workflows.ts";
import { reserveStdout } from "../terminal/reserve-stdout.ts";
import { stopOnSignals } from "../terminal/stop-on-signals.ts";
import { CliError, ownedElsewhere } from "./cli-error.ts";
import { EXIT } from "./command.ts";
import { nextCommand, shownStore } from "./command-name.ts";
import { describeError } from "../operate/described-error.ts";
import { readEndedTasks } from "../operate/inspect-run.ts";
import { isOver } from "../operate/run-status.ts";
import { withStore } from "../operate/find-run.ts";
import { type ConfigSettings, runtimeOptionsOf } from "./load-config.ts";
import { loadWorkflow } from "./load-workflow.ts";
import { showProgress } from "./progress/show-progress.ts";
import { printResult } from "./print-result.ts";
import type { Screen } from "./screen.ts";
import { absoluteAddress, withoutPassword } from "../operate/store-address.ts";
import { describeOwner, readOwnerOfRun } from "../operate/run-owner.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";

export interface RunFileOptions {
  readonly store: string;
  readonly file: string;
  readonly runId: string | undefined;
  readonly resume: boolean;
  /** Asks on the terminal about pending approvals, then resumes the run. */
  readonly ask?: boolean | undefined;
  /** Stays while the run waits for a time, a signal or an approval, and continues it. */
  readonly wait?: boolean | undefined;
  /** The decision that resumes the run. */
  readonly decision?: Approval | undefined;
  /** Flags and the options of a stored run win over it. */
  readonly config: ConfigSettings | undefined;
  readonly run: Pick<
    RunWorkflowOptions,
    keyof SettingOptions | "input" | "rootDir" | "maxConcurrency" | "acceptChanges"
  >;
}

export async function runFile(screen: Screen, options: RunFileOptions): Promise<number> {
  // With --json, stdout holds the result only.
  const restore = screen.isJson ? reserveStdout() : () => undefined;
  try {
    const workflow = await loadWorkflow(options.file);
    noteOtherStore(screen, workflow, options.store);
    const runId = options.runId ?? randomUUID();
    await using runtime = createRuntime({ ...runtimeOptionsOf(options.config), store: options.store });
    await runtime.ready();
    let result = await runShown(screen, { ...options, runId }, workflow, runtime);
    while (options.ask === true && result.status === "waiting-approval" && (await ask(runtime, runId)))
      result = await runShown(screen, { ...options, runId, resume: true }, workflow, runtime);
    if (options.wait === true && !isOver(result.status)) {
      const { waitHere } = await import("./wait-here.ts");
      const again = { ...options, runId, resume: true };
      result = await waitHere(screen, runtime, result, () => runShown(screen, again, workflow, runtime));
    }
    restore();
    if (options.store === ":memory:" && result.status !== "finished") return printLostRun(screen, result);
    return await printResult(screen, runtime, result, options);
  } finally {
    restore();
  }
}

async function runShown(
  screen: Screen,
  { store, file, runId, resume, run }: RunFileOptions & { readonly runId: string },
  workflow: WorkflowDefinition,
  runtime: Runtime,
): Promise<WorkflowResult> {
  const endedTasks =
    resume && screen.isLive ? await readEndedTasks((await hostOf(runtime)).store, runId) : [];
  using progress = showProgress(screen, { runId, isResumed: resume, endedTasks });
  using stop = stopOnSignals({
    onFirst: (signal) => progress.note(`${signal}: stopping the run. Send it again to exit immediately.`),
    onOverdue: () =>
      process.stderr.write("toolwright: the run did not stop in time; exiting. It can be resumed.\n"),
    exitCode: () => EXIT.failed,
  });
  const unsubscribe = runtime.subscribe(progress.onCall);
  try {
    return await runWorkflow(workflow, {
      ...run,
      runId,
      resume,
      runtime,
      file: resolve(file),
      signal: stop.signal,
      onProgress: progress.onProgress,
    });
  } catch (error) {
    throw await withAdvice(error, store, runId, resolve(file));
  } finally {
    unsubscribe();
  }
}

/** @returns whether every request was decided; Ctrl-C and Ctrl-D leave the rest pending */
async function ask(runtime: Runtime, runId: string): Promise<boolean> {
  using stop = stopOnSignals({
    onFirst: () => process.stderr.write("\n"),
    onOverdue: () => undefined,
    exitCode: () => EXIT.waiting,
  });
  return await promptApprover(runtime, await runtime.approvals({ status: "pending", runId }), stop.signal);
}

/** A store in memory ends with this command, so no other command can decide or resume anything in it. */
function printLostRun(screen: Screen, { runId, status, error }: WorkflowResult): number {
  const described = error === undefined ? null : describeError(error);
  screen.printJson({ runId, status, output: null, outputs: {}, error: described, store: ":memory:" });
  const why = error === undefined ? "" : `: ${error.message}`;
  screen.printBlock(`${screen.paint("yellow", status)} ${toTerminalName(runId)}${why}`);
  if (error !== undefined && error.hint !== "") screen.print(`  ${error.hint}`);
  screen.print(
    "  The store was :memory:, so this run is lost. Start it again with --store <file> to keep it.",
  );
  return isOver(status) ? EXIT.failed : EXIT.waiting;
}

/** Adds what only the command line can say: which process owns the run, and which command to run. */
async function withAdvice(error: unknown, store: string, runId: string, file: string): Promise<unknown> {
  if (!ToolwrightError.is(error)) return error;
  if (error.code === "WORKFLOW_RUN_EXISTS") {
    const isOfWorkflow = error.details["kind"] === undefined;
    const next =
      !isOfWorkflow || error.details["status"] === "finished"
        ? `See ${isOfWorkflow ? "its result" : "what it is"}: ${nextCommand(store, "inspect", runId)}`
        : `Resume it: ${nextCommand(store, "resume", runId)}`;
    return new CliError(error.code, error.message, `${next}. Or use another --run-id.`);
  }
  if (error.code === "WORKFLOW_RUN_CHANGED") {
    // A program's run has no stored file, and a file may have moved: then the command must name it.
    const named = error.details["file"] === file ? [] : ([["--file", shownStore(file)]] as const);
    return new CliError(
      error.code,
      error.message,
      `To resume with the new version: ${nextCommand(store, "resume", runId, ...named, ["--accept-changes"])}`,
    );
  }
  if (error.code !== "TOOL_RUN_CONFLICT" && error.code !== "TOOL_RUN_FENCED") return error;
  const owner = await withStore(store, (opened) => readOwnerOfRun(opened, runId));
  return owner === undefined ? error : ownedElsewhere(runId, describeOwner(owner));
}

/** Every command uses the store of --store or the config. Warn if the workflow names another one. */
function noteOtherStore(screen: Screen, { options }: WorkflowDefinition, used: string): void {
  const named = options.store ?? options.dbPath;
  if (named === undefined) return;
  const path = typeof named === "string" ? named : named.path;
  if (path !== undefined && absoluteAddress(path) === absoluteAddress(used)) return;
  const shown = path === undefined ? "its own open store" : `the store ${withoutPassword(shownStore(path))}`;
  screen.warn(
    `the workflow names ${shown}; this command uses ${withoutPassword(used)}. Use --store to choose.`,
  );
}
