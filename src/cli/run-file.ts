/** Runs a workflow from its file, for `up` and `resume`: shows how it goes, stops when it is told to, and says how it ended. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { askPerson } from "../adapters/commander/ask-person.ts";
import { ToolwrightError } from "../errors.ts";
import type { Approval } from "../invoke/approval.ts";
import { createRuntime, hostOf } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type RunWorkflowOptions, runWorkflow, type WorkflowResult } from "../workflow/run-workflow.ts";
import type { WorkflowDefinition } from "../workflow/create-smithers.ts";
import { keepOutputApart } from "../terminal/keep-output-apart.ts";
import { stopOnSignals } from "../terminal/stop-on-signals.ts";
import { CliError, ownedElsewhere } from "./cli-error.ts";
import { EXIT } from "./command.ts";
import { nextCommand, shownStore } from "./command-name.ts";
import { describeError, readEndedTasks } from "../operate/describe-run.ts";
import { withStore } from "../operate/find-run.ts";
import { type ConfigSettings, runtimeOptionsOf } from "./load-config.ts";
import { loadWorkflow } from "./load-workflow.ts";
import { showProgress } from "./progress/show-progress.ts";
import { sayResult } from "./say-result.ts";
import type { Screen } from "./screen.ts";
import { absoluteAddress, withoutPassword } from "../operate/store-address.ts";
import { describeOwner, readOwnerOfRun } from "../operate/run-owner.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";

export interface RunFileOptions {
  readonly store: string;
  readonly file: string;
  readonly runId: string | undefined;
  readonly resume: boolean;
  /** Asks whoever is at the terminal about what the run waits for, then resumes it. */
  readonly ask?: boolean | undefined;
  /** What was decided right before. */
  readonly decision?: Approval | undefined;
  /** Its settings count where neither a flag nor the stored run says otherwise. */
  readonly config: ConfigSettings | undefined;
  readonly run: Pick<
    RunWorkflowOptions,
    | "input"
    | "rootDir"
    | "allowNetwork"
    | "maxOutputBytes"
    | "toolTimeoutMs"
    | "isolation"
    | "maxConcurrency"
    | "acceptChanges"
  >;
}

export async function runFile(screen: Screen, options: RunFileOptions): Promise<number> {
  // With --json, stdout is for the answer.
  const restore = screen.isJson ? keepOutputApart() : () => undefined;
  try {
    const workflow = await loadWorkflow(options.file);
    noteOtherStore(screen, workflow, options.store);
    const runId = options.runId ?? randomUUID();
    await using runtime = createRuntime({ ...runtimeOptionsOf(options.config), store: options.store });
    await runtime.ready();
    let result = await runShown(screen, { ...options, runId }, workflow, runtime);
    while (options.ask === true && result.status === "waiting-approval" && (await ask(runtime, runId)))
      result = await runShown(screen, { ...options, runId, resume: true }, workflow, runtime);
    restore();
    if (options.store === ":memory:" && result.status !== "finished") return sayGone(screen, result);
    return await sayResult(screen, runtime, result, options);
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
    onFirst: (signal) => progress.note(`${signal}: stopping the run; once more to leave at once.`),
    onOverdue: () =>
      process.stderr.write("toolwright: what runs does not stop; leaving it. The run can be resumed.\n"),
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
    throw await inWords(error, store, runId, resolve(file));
  } finally {
    unsubscribe();
  }
}

/** @returns whether everything was decided; Ctrl-C and Ctrl-D leave the rest open */
async function ask(runtime: Runtime, runId: string): Promise<boolean> {
  using stop = stopOnSignals({
    onFirst: () => process.stderr.write("\n"),
    onOverdue: () => undefined,
    exitCode: () => EXIT.waiting,
  });
  return await askPerson(runtime, await runtime.approvals({ status: "pending", runId }), stop.signal);
}

/** A store in memory ends with this command: no other one can decide or resume anything in it. */
function sayGone(screen: Screen, { runId, status, error }: WorkflowResult): number {
  const described = error === undefined ? null : describeError(error);
  screen.tell({ runId, status, output: null, outputs: {}, error: described, store: ":memory:" });
  const why = error === undefined ? "" : `: ${error.message}`;
  screen.sayBlock(`${screen.paint("yellow", status)} ${toTerminalName(runId)}${why}`);
  if (error !== undefined && error.hint !== "") screen.say(`  ${error.hint}`);
  screen.say(
    "  The store was :memory:, so the run is gone with this command. Start it again with --store <file> to keep it.",
  );
  return status === "waiting-approval" ? EXIT.waiting : EXIT.failed;
}

/** Adds what only the command line knows: who has the run, and what to type. */
async function inWords(error: unknown, store: string, runId: string, file: string): Promise<unknown> {
  if (!ToolwrightError.is(error)) return error;
  if (error.code === "WORKFLOW_RUN_EXISTS") {
    const next =
      error.details["status"] === "finished"
        ? `See its result: ${nextCommand(store, "inspect", runId)}`
        : `Resume it: ${nextCommand(store, "resume", runId)}`;
    return new CliError(error.code, error.message, `${next}. Or use another --run-id.`);
  }
  if (error.code === "WORKFLOW_RUN_CHANGED") {
    // A program's run is stored without a file, and the file may have moved: then it has to be named again.
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

/** Other commands read the store that they are told of, so this one does too, and says where the workflow names another. */
function noteOtherStore(screen: Screen, { options }: WorkflowDefinition, used: string): void {
  const named = options.store ?? options.dbPath;
  if (named === undefined) return;
  const path = typeof named === "string" ? named : named.path;
  if (path !== undefined && absoluteAddress(path) === absoluteAddress(used)) return;
  const shown =
    path === undefined ? "an open store of its own" : `the store ${withoutPassword(shownStore(path))}`;
  screen.warn(
    `the workflow names ${shown}; this command uses ${withoutPassword(used)}. Use --store to choose.`,
  );
}
