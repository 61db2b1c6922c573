/** Claims a run for a worker and drives it. The claim raises the epoch, which fences every earlier owner. */
import { dirname } from "node:path";
import { ToolwrightError } from "../errors.ts";
import { encodeCleanError } from "../invoke/error-record.ts";
import type { Host } from "../invoke/host.ts";
import type { RunRelease } from "../invoke/run-release.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Transaction } from "../store/store.ts";
import { readRunRow } from "../store/tables/runs.ts";
import {
  endRun,
  readRun,
  type TakenRun,
  takeRun,
  type WorkflowRunRow,
} from "../store/tables/workflow-runs.ts";
import { decode, encode } from "../util/encode.ts";
import { claimRun, hasChanged, withRunLock, recordIfNew } from "./claim-run.ts";
import type { OnChange } from "./components.ts";
import type { WorkflowDefinition } from "./create-workflows.ts";
import { driveRun, orGiveBack } from "./drive-run.ts";
import { ensureOutputViews } from "./output-views.ts";
import type { StartOptions } from "./run-options.ts";
import type { WorkflowResult } from "./run-workflow.ts";
import { parseInput } from "./parse-input.ts";
import { isUnparsed, planOf } from "./start-run.ts";

/** A run fails when it was taken over so often in a row without progress, and its worker has died again. */
const MOST_TAKEOVERS = 5;

export interface WorkerWorkflow {
  readonly workflow: WorkflowDefinition;
  /** The file that exports it. */
  readonly file?: string | undefined;
  /** The digest of the code that was loaded. */
  readonly shape: string;
  /** Options of runs that start here, such as `rootDir`. */
  readonly start: StartOptions;
  /** The names under which the views of its outputs exist. */
  readonly views: Set<string>;
}

export interface WorkerClaimOptions extends WorkerWorkflow {
  readonly host: Host;
  readonly runtime: Runtime;
  readonly runId: string;
  readonly build: string | null;
  readonly release: RunRelease;
  /** The run was found by its code. It is taken only if this workflow has the name of the run. */
  readonly isByCode: boolean;
  /** The run is this worker's: it is about to be driven. */
  readonly onClaimed: () => void;
}

export type WorkerClaim =
  | { readonly kind: "ended"; readonly result: WorkflowResult }
  /** Another process claimed the run first, or the run has ended. */
  | { readonly kind: "lost" }
  /** The run belongs to another workflow in the same file. */
  | { readonly kind: "other" }
  /** The code has changed, and the run must not continue with this version. */
  | { readonly kind: "changed"; readonly run: WorkflowRunRow };

/** @throws when the run was given back, or when the store fails */
export async function claimForWorker(options: WorkerClaimOptions): Promise<WorkerClaim> {
  const { host, runId } = options;
  const stored = await host.store.read(() => readRun(runId));
  if (stored === undefined || isOver(stored) || host.activeRuns.has(runId)) return { kind: "lost" };
  if (stored.ownerId !== null && stored.ownerId !== host.ownerId && (await host.isOwnerAlive(stored.ownerId)))
    return { kind: "lost" };
  const { workflow, shape } = options;
  if (options.isByCode && !isNamedAsRun(options, stored)) return { kind: "other" };
  if (hasChanged(stored, workflow, shape) && (await changePolicy(options, stored)) !== "continue")
    return { kind: "changed", run: stored };
  return withRunLock(host, runId, () => claim(options, stored));
}

async function claim(options: WorkerClaimOptions, stored: WorkflowRunRow): Promise<WorkerClaim> {
  const { host, runtime, runId, workflow, file, shape, release, build } = options;
  const given = decode(stored.inputJson);
  const isNew = isUnparsed(stored);
  const parsed = isNew ? await tryParse(workflow, given) : { input: given };
  const input = "input" in parsed ? parsed.input : given;
  const start: StartOptions = {
    // The default is stored too: a resume uses the same root.
    rootDir: file === undefined ? host.settings.rootDir : dirname(file),
    ...options.start,
    ...(decode(stored.optionsJson) as StartOptions),
  };
  const plan = isNew ? planOf(workflow, runId, input, file) : undefined;
  const taken = await claimRun(host, runId, stored.epoch + 1, function* (): Transaction<TakenRun> {
    const claimed = yield* takeRun(
      stored,
      {
        ownerId: host.ownerId,
        shape,
        file: file ?? null,
        optionsJson: encode(start),
        updatedAtMs: host.clock.now(),
      },
      {
        inputJson: isNew ? encode(input) : undefined,
        build,
        onChange: plan?.onChange ?? null,
        crashLoop: { most: MOST_TAKEOVERS, errorJson: encodeCleanError(crashLoop(runId)) },
      },
    );
    yield* recordIfNew(host, stored);
    return claimed;
  });
  if (taken.kind !== "taken") return { kind: "lost" };
  options.onClaimed();
  const { epoch, sagaJson, takeovers } = taken;
  if ("error" in parsed) {
    const errorJson = encodeCleanError(parsed.error);
    const end = { status: "failed", errorJson, nowMs: host.clock.now() } as const;
    await orGiveBack(
      { host, runId, epoch },
      host.store.transaction(() => endRun(runId, epoch, end), "normal"),
    );
    return { kind: "lost" };
  }
  const name = stored.workflow;
  await ensureOutputViews({ host, runId, epoch }, name, workflow.schemas, options.views);
  const result = await driveRun({
    host,
    runtime,
    runId,
    name,
    epoch,
    sagaJson,
    workflow,
    input,
    start,
    options: { runId },
    takeovers,
    release,
  });
  return { kind: "ended", result };
}

function isNamedAsRun({ workflow, runId, file }: WorkerClaimOptions, stored: WorkflowRunRow): boolean {
  return planOf(workflow, runId, decode(stored.inputJson), file).name === stored.workflow;
}

/** The value with which the run was started takes precedence over the workflow's current value. */
async function changePolicy(options: WorkerClaimOptions, stored: WorkflowRunRow): Promise<OnChange> {
  const { host, runId, workflow, file, build } = options;
  const row = await host.store.read(() => readRunRow(runId));
  const policy = row?.onChange ?? planOf(workflow, runId, decode(stored.inputJson), file).onChange ?? "ask";
  if (policy !== "pin") return policy as OnChange;
  // The same build is the same code, even if the digest differs.
  return row?.build !== null && row?.build === build ? "continue" : "pin";
}

async function tryParse(
  workflow: WorkflowDefinition,
  given: unknown,
): Promise<{ readonly input: unknown } | { readonly error: ToolwrightError }> {
  try {
    return { input: await parseInput(workflow, given) };
  } catch (error) {
    if (ToolwrightError.is(error)) return { error };
    throw error;
  }
}

function isOver({ status }: WorkflowRunRow): boolean {
  return status === "finished" || status === "failed" || status === "cancelled";
}

function crashLoop(runId: string): ToolwrightError {
  return new ToolwrightError(
    "WORKFLOW_CRASH_LOOP",
    `Run "${runId}" was taken over ${MOST_TAKEOVERS} times in a row without progress, and its worker died again.`,
    { details: { runId, takeovers: MOST_TAKEOVERS } },
  );
}
