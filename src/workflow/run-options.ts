/** Validates the options of a run, and selects the options that are stored for a resume. */
import { resolve } from "node:path";
import { SETTING_OPTIONS, type ToolSettings, toSettings } from "../definition/tool-settings.ts";
import {
  aBoolean,
  aFullText,
  aFunction,
  aRunId,
  anInteger,
  anything,
  aRuntime,
  aSignal,
  oneOf,
  someLabels,
} from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import type { Limits } from "../invoke/host.ts";
import { LIMITS, refusal } from "../runtime/options.ts";
import { decode } from "../util/encode.ts";
import type { RunWorkflowOptions } from "./run-workflow.ts";
import type { StoredSagas } from "./saga-tasks.ts";

export const RUN_WORKFLOW_OPTIONS: OptionTable = optionTable<RunWorkflowOptions>(
  "runWorkflow",
  {
    input: anything,
    runId: aRunId,
    resume: oneOf(true, false, "auto"),
    runtime: aRuntime,
    file: aFullText,
    acceptChanges: aBoolean,
    rootDir: aFullText,
    ...SETTING_OPTIONS,
    maxConcurrency: anInteger(1),
    limits: LIMITS,
    labels: someLabels,
    signal: aSignal,
    onProgress: aFunction,
  },
  { example: "{ input, runId }" },
);

export function checkRunOptions(options: RunWorkflowOptions): void {
  checkOptions(RUN_WORKFLOW_OPTIONS, options);
  const { runId, resume } = options;
  if (resume !== undefined && resume !== false && runId === undefined)
    throw refusal("runId", "is required to resume a run");
}

/** Options that are stored. A resume uses the ones that were passed last. */
export type StartOptions = Partial<ToolSettings> & {
  readonly maxConcurrency?: number;
  readonly limits?: Limits;
  /** Tasks with logged calls that were missing from the workflow when it was resumed with changes. */
  readonly missingTasks?: readonly string[];
  /** The tasks of its sagas, including tasks that are no longer in its tree. */
  readonly sagas?: StoredSagas;
  /** A fork has the input of its parent, which the schema has parsed. */
  readonly isInputParsed?: boolean;
  /** Tasks of a fork whose outputs were given to it, until their schemas have parsed them. */
  readonly replacedOutputs?: readonly { readonly nodeId: string; readonly path: string }[];
};

/** The settings for the tools of a stored run. @param optionsJson `undefined` for a run that is not a workflow */
export function settingsOfRun(optionsJson: string | undefined): Partial<ToolSettings> {
  if (optionsJson === undefined) return {};
  const {
    maxConcurrency: _most,
    limits: _limits,
    missingTasks: _missing,
    ...rest
  } = decode(optionsJson) as StartOptions;
  const { isInputParsed: _isParsed, replacedOutputs: _replaced, sagas: _sagas, ...settings } = rest;
  return settings;
}

export function startOptionsOf(options: RunWorkflowOptions): StartOptions {
  return {
    ...(options.rootDir === undefined ? {} : { rootDir: resolve(options.rootDir) }),
    ...toSettings(options),
    ...(options.maxConcurrency === undefined ? {} : { maxConcurrency: options.maxConcurrency }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  };
}
