/** Options of a worker. An invalid one is refused when the worker is created. */
import {
  aBoolean,
  aFullText,
  anInteger,
  aRuntime,
  type Check,
  describe,
  must,
  Problem,
  someLabels,
  valuesOf,
} from "../definition/option-checks.ts";
import { asOptionError, checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import type { SmartAgent } from "../agent/create-smart-agent.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Labels } from "../store/tables/runs.ts";
import { isWorkflowDefinition, type WorkflowDefinition } from "../workflow/create-workflows.ts";
import type { RunWorkflowOptions } from "../workflow/run-workflow.ts";

/** A workflow with the file that exports it. */
export interface WorkerWorkflowSource {
  load(): Promise<WorkflowDefinition>;
  readonly file?: string | undefined;
  /** Options of the runs that start here, such as `rootDir`. */
  readonly options?:
    | Omit<RunWorkflowOptions, "input" | "runId" | "resume" | "runtime" | "file" | "signal" | "onProgress">
    | undefined;
}

/** What a program or a function of an agent receives. */
export interface ProgramJob {
  readonly runId: string;
  /** As it was enqueued, or passed to `runtime.run`. `undefined` for a run that another process started without one. */
  readonly input: unknown;
  /** Aborted when the worker gives the run back, or has lost it. */
  readonly signal: AbortSignal;
  readonly runtime: Runtime;
}

/** Runs from the start each time it is resumed: recorded calls and responses are replayed. */
export type Program = (job: ProgramJob) => unknown;

export interface WorkerOptions {
  readonly runtime: Runtime;
  /** By the names under which runs are enqueued. */
  readonly workflows?: Readonly<Record<string, WorkflowDefinition | WorkerWorkflowSource>> | undefined;
  /** Smart agents on the same runtime, or functions that call one. */
  readonly agents?: Readonly<Record<string, SmartAgent | Program>> | undefined;
  readonly programs?: Readonly<Record<string, Program>> | undefined;
  /** How many runs it drives at the same time. Default 4. */
  readonly concurrency?: number | undefined;
  /** Names the version of the code, such as a commit. Runs of workflows with `onChange="pin"` stay with it. */
  readonly build?: string | undefined;
  /** Shown in lists of workers. */
  readonly labels?: Labels | undefined;
  /** How long it may be silent before others take over its runs. From 2,000. Default 10,000. */
  readonly leaseMs?: number | undefined;
  /** How long calls in flight may take when the worker drains, up to a day. Default 30,000. */
  readonly drainMs?: number | undefined;
  /** The root folder is the same on every worker, as on a network drive: runs that used files may move. Default `false`. */
  readonly sharedRoot?: boolean | undefined;
}

export const LEAST_LEASE_MS = 2_000;
const MOST_LEASE_MS = 3_600_000;
/** A timer that is too long for Node.js would end immediately, and cut every call off. */
const MOST_DRAIN_MS = 86_400_000;

const aLease: Check = (value, field) => {
  if (typeof value === "number" && value >= LEAST_LEASE_MS && value <= MOST_LEASE_MS) return;
  throw new Problem(
    field,
    `must be a number of milliseconds from ${LEAST_LEASE_MS} to ${MOST_LEASE_MS}, not ${describe(value)}: a lease is renewed three times before it ends.`,
  );
};

const aWorkflow: Check = must(
  (value) =>
    isWorkflowDefinition(value) ||
    (typeof value === "object" && value !== null && "load" in value && typeof value.load === "function"),
  "a workflow from workflow(), or { load, file }",
);

const aProgram: Check = must(
  (value) => typeof value === "function",
  "a function of { runId, input, signal, runtime }",
);

const anAgent: Check = must(
  (value) =>
    typeof value === "function" ||
    (typeof value === "object" && value !== null && "invoke" in value && typeof value.invoke === "function"),
  "an agent from createSmartAgent, or a function of { runId, input, signal, runtime }",
);

export const WORKER_OPTIONS: OptionTable = optionTable<WorkerOptions>(
  "createWorker",
  {
    runtime: aRuntime,
    workflows: valuesOf(aWorkflow),
    agents: valuesOf(anAgent),
    programs: valuesOf(aProgram),
    concurrency: anInteger(1),
    build: aFullText,
    labels: someLabels,
    leaseMs: aLease,
    drainMs: must(
      (value) => typeof value === "number" && value >= 0 && value <= MOST_DRAIN_MS,
      `a number of milliseconds from 0 to ${MOST_DRAIN_MS}`,
    ),
    sharedRoot: aBoolean,
  },
  { required: ["runtime"], example: "{ runtime, workflows: { order } }" },
);

/** @throws TOOL_OPTION_INVALID */
export function checkWorkerOptions(options: WorkerOptions): void {
  checkOptions(WORKER_OPTIONS, options);
  const { workflows = {}, agents = {}, programs = {} } = options;
  asOptionError("createWorker", () => {
    const names = [workflows, agents, programs].flatMap((named) => Object.keys(named));
    if (names.length === 0)
      throw new Problem("workflows", "is empty: pass at least one workflow, agent or program to run.");
    const double = names.find((name, index) => names.indexOf(name) !== index);
    if (double !== undefined)
      throw new Problem("workflows", `names ${JSON.stringify(double)} twice: names must be unique.`);
    for (const name of names)
      if (name === "" || name.length > 200)
        throw new Problem("workflows", "has a name that is empty or too long.");
  });
}
