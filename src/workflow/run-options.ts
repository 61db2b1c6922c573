/** The options of a run: checked at the edge, and those of them that hold for a resume. */
import { resolve } from "node:path";
import type { ToolSettings } from "../definition/context.ts";
import type { Limits } from "../invoke/host.ts";
import { checkId, checkLimits, checkSettings, checkSignal, refusal } from "../runtime/options.ts";
import type { RunWorkflowOptions } from "./run-workflow.ts";

export function checkRunOptions(options: RunWorkflowOptions): void {
  const { runId, resume, rootDir, maxConcurrency, signal } = options;
  if (![undefined, true, false, "auto"].includes(resume))
    throw refusal("resume", `must be true, false or "auto", not ${JSON.stringify(resume)}`);
  if (resume !== undefined && resume !== false && runId === undefined)
    throw refusal("runId", "is needed to resume a run");
  if (runId !== undefined) checkId("runId", runId);
  if (rootDir !== undefined && typeof rootDir !== "string") throw refusal("rootDir", "must be a text");
  if (maxConcurrency !== undefined && !(Number.isInteger(maxConcurrency) && maxConcurrency >= 1)) {
    throw refusal("maxConcurrency", `must be a whole number from 1, not ${String(maxConcurrency)}`);
  }
  checkSettings({ maxOutputBytes: options.maxOutputBytes, timeoutMs: options.toolTimeoutMs });
  checkLimits(options.limits);
  checkSignal(signal);
}

/** Options that are put on record: those that were given last hold for a resume. */
export type StartOptions = Partial<ToolSettings> & {
  readonly maxConcurrency?: number;
  readonly limits?: Limits;
  /** Tasks whose calls are logged, and that the workflow did not hold any more when it was resumed with changes. */
  readonly missingTasks?: readonly string[];
};

export function startOptionsOf(options: RunWorkflowOptions): StartOptions {
  return {
    ...(options.rootDir === undefined ? {} : { rootDir: resolve(options.rootDir) }),
    ...(options.allowNetwork === undefined ? {} : { allowNetwork: options.allowNetwork }),
    ...(options.maxOutputBytes === undefined ? {} : { maxOutputBytes: options.maxOutputBytes }),
    ...(options.toolTimeoutMs === undefined ? {} : { timeoutMs: options.toolTimeoutMs }),
    ...(options.maxConcurrency === undefined ? {} : { maxConcurrency: options.maxConcurrency }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  };
}
