/** Reverts a run with the tools of the config and the tools that its workflow file defines. */
import { existsSync } from "node:fs";
import { createRuntime } from "../runtime/create-runtime.ts";
import type { RevertEntry, RevertReport } from "../runtime/revert/revert-report.ts";
import { readWorkflowOrigin, type WorkflowOrigin } from "../operate/workflow-origin.ts";
import { reserveStdout } from "../terminal/reserve-stdout.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";
import { EXIT } from "./command.ts";
import { nextCommand } from "./command-name.ts";
import { findConfig } from "./find-config.ts";
import { findWorkflowFile, loadWorkflow } from "./load-workflow.ts";
import { withAnyRun } from "./open.ts";
import type { CommonOptions, Screen } from "./screen.ts";

export interface RevertCommandOptions extends CommonOptions {
  readonly from?: string;
  readonly dryRun?: boolean;
  readonly file?: string;
}

export async function revertFrom(
  screen: Screen,
  runId: string,
  options: RevertCommandOptions,
): Promise<number> {
  const { store, from, dryRun } = options;
  const origin = await withAnyRun(store, runId, readWorkflowOrigin);
  // With --json, stdout holds the result only.
  const restore = screen.isJson ? reserveStdout() : () => undefined;
  try {
    const config = await loadProject();
    const file =
      options.file === undefined
        ? knownFile(origin, config?.workflows)
        : findWorkflowFile(options.file, config?.workflows);
    // Loading the file defines its tools.
    if (file !== undefined) await loadWorkflow(file);
    await using runtime = createRuntime({ ...config?.runtime, store, tools: config?.tools });
    const report = await runtime.revert({ runId, from, dryRun });
    restore();
    print(screen, store, report);
    return exitCodeOf(report);
  } finally {
    restore();
  }
}

/** A worker on another machine may have stored a path that does not exist here: then the name of the workflow counts. */
function knownFile(
  origin: WorkflowOrigin | undefined,
  workflows: Readonly<Record<string, string>> = {},
): string | undefined {
  const { file = null, workflow = "" } = origin ?? {};
  const named = Object.hasOwn(workflows, workflow) ? workflows[workflow] : undefined;
  return [file ?? undefined, named].find((one) => one !== undefined && existsSync(one));
}

async function loadProject() {
  const folder = process.cwd();
  if (findConfig(folder) === undefined) return undefined;
  const { loadConfig, runtimeOptionsOf } = await import("./load-config.ts");
  const config = await loadConfig(folder);
  return config && { tools: config.tools, workflows: config.workflows, runtime: runtimeOptionsOf(config) };
}

function exitCodeOf({ dryRun, left, failed, pending }: RevertReport): number {
  if (dryRun) return EXIT.finished;
  if (failed.length > 0) return EXIT.failed;
  if (pending.length > 0) return EXIT.waiting;
  return left.length > 0 ? EXIT.left : EXIT.finished;
}

function print(screen: Screen, store: string, report: RevertReport): void {
  screen.printJson(report);
  const { runId, dryRun, reverted, left, failed, pending } = report;
  const total = reverted.length + left.length + failed.length + pending.length;
  const name = toTerminalName(runId);
  if (total === 0) {
    screen.print(`Run ${name} has no effects to revert.`);
    return;
  }
  screen.print(
    dryRun
      ? `A revert of run ${name} would do this, newest first. Nothing was changed.`
      : `Run ${name}: ${reverted.length} of ${total} effects are reverted.`,
  );
  printGroup(screen, dryRun ? "would be reverted" : "reverted", reverted);
  printGroup(screen, "left as they are", left);
  printGroup(screen, "failed", failed);
  printGroup(screen, "wait for approval", pending);
  const [request] = pending.flatMap(({ approvalId }) => approvalId ?? []);
  if (request !== undefined) {
    screen.print(`  Approve a revert:  ${nextCommand(store, "approve", request)}`);
    screen.print(`  Then continue:     ${nextCommand(store, "revert", runId)}`);
  }
  if (dryRun) screen.print(`  Revert them:  ${nextCommand(store, "revert", runId)}`);
}

function printGroup(screen: Screen, title: string, entries: readonly RevertEntry[]): void {
  if (entries.length === 0) return;
  screen.print(`  ${title}`);
  for (const entry of entries) {
    const marks = [
      entry.effectStatus === "unknown" ? "may not have happened" : "",
      entry.already ? "before" : "",
      entry.late ? "happened after its revert" : "",
      entry.reason ?? "",
    ].filter((text) => text !== "");
    const more = marks.length === 0 ? "" : `  (${marks.join("; ")})`;
    screen.print(`    ${toTerminalName(entry.tool)} in ${toTerminalName(entry.nodeId)}${more}`);
  }
}
