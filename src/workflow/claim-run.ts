/** Claims a run for this process: a new one, or one without a live owner. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ToolwrightError } from "../errors.ts";
import { runClaimName } from "../invoke/failed-writes.ts";
import type { Host } from "../invoke/host.ts";
import { assertNotDeleted } from "../store/tables/tombstones.ts";
import { startRecording } from "../store/tables/recordings.ts";
import { insertLabels, insertRunRow, type Labels, readRunRow } from "../store/tables/runs.ts";
import {
  insertRun,
  releaseRun,
  type TakenRun,
  takeRun,
  unpinRun,
  type WorkflowRunRow,
} from "../store/tables/workflow-runs.ts";
import type { Transaction } from "../store/store.ts";
import { encode } from "../util/encode.ts";
import { sha256 } from "../util/hash.ts";
import { codeDigest } from "./code-digest.ts";
import type { WorkflowDefinition } from "./create-workflows.ts";

export interface NewRun {
  readonly runId: string;
  readonly name: string;
  readonly shape: string;
  readonly input: unknown;
  /** Stored for a resume. */
  readonly start: object;
  readonly file: string | undefined;
  readonly labels?: Labels | undefined;
}

/** Returns the epoch, or `undefined` when another process inserted a run with this id first. */
export async function insertNewRun(
  host: Host,
  { runId, name, shape, input, start, file, labels }: NewRun,
): Promise<number | undefined> {
  const createdAtMs = host.clock.now();
  const inserted = await claimRun(host, runId, 1, function* () {
    // First, so that it waits for a transaction that lists another run with this id.
    const isNew = yield* insertRunRow(runId, { kind: "workflow", name, ownerId: host.ownerId }, createdAtMs);
    if (!isNew) yield* assertIsWorkflow(runId);
    const changes = yield* insertRun({
      runId,
      workflow: name,
      file: file === undefined ? null : resolve(file),
      shape,
      inputJson: encode(input),
      optionsJson: encode(start),
      ownerId: host.ownerId,
      createdAtMs,
    });
    // The insert waits for a garbage collection that deletes a run with this id, so check after it.
    yield* assertNotDeleted(runId);
    if (changes > 0 && labels !== undefined) yield* insertLabels(runId, labels, createdAtMs);
    if (changes > 0 && host.recording === "keep") yield* startRecording(runId);
    return changes;
  });
  return inserted === 1 ? 1 : undefined;
}

/** An agent, a program or a call may have the id: a workflow must not replace it. */
function* assertIsWorkflow(runId: string): Transaction<void> {
  const row = yield* readRunRow(runId);
  if (row === undefined || row.kind === "workflow") return;
  throw new ToolwrightError(
    "WORKFLOW_RUN_EXISTS",
    `Run "${runId}" already exists, and is not a workflow but of the kind "${row.kind}". Its status is "${row.state}".`,
    { details: { runId, status: row.state, kind: row.kind }, hint: "Use another runId." },
  );
}

/** @param epoch the epoch of the run once the claim is committed */
export function claimRun<T>(
  host: Host,
  runId: string,
  epoch: number,
  claim: () => Transaction<T>,
): Promise<T> {
  const { ownerId, failedWrites } = host;
  const undo = (): Transaction<void> => releaseRun(runId, { ownerId, epoch }, "running");
  return failedWrites.claim(runClaimName(runId, epoch), claim, undo);
}

export function existsError({ runId, status }: WorkflowRunRow): ToolwrightError {
  return new ToolwrightError(
    "WORKFLOW_RUN_EXISTS",
    `Run "${runId}" already exists. Its status is "${status}".`,
    {
      details: { runId, status },
    },
  );
}

export function changedError(run: WorkflowRunRow): ToolwrightError {
  return new ToolwrightError(
    "WORKFLOW_RUN_CHANGED",
    `${run.file ?? `Workflow "${run.workflow}"`} has changed since run "${run.runId}" started. Finished tasks stay finished; the others would run the new version.`,
    {
      details: { runId: run.runId, file: run.file },
      hint: "Pass acceptChanges: true, or --accept-changes on the command line.",
    },
  );
}

/** A runtime drives each run at most once at a time. */
export async function withRunLock<T>(host: Host, runId: string, work: () => Promise<T>): Promise<T> {
  if (host.activeRuns.has(runId))
    throw new ToolwrightError("TOOL_RUN_CONFLICT", `Run "${runId}" is already running in this process.`, {
      details: { runId },
    });
  host.activeRuns.add(runId);
  try {
    return await work();
  } finally {
    host.activeRuns.delete(runId);
  }
}

/**
 * Never takes over from a live owner; replaces a dead one immediately. Call it inside `withRunLock`.
 * @param next `isAccepted`: the code has changed, and an operator has accepted that
 */
export async function takeOverRun(
  host: Host,
  run: WorkflowRunRow,
  {
    shape,
    start,
    file,
    isAccepted,
  }: Pick<NewRun, "shape" | "start" | "file"> & { readonly isAccepted: boolean },
): Promise<TakenRun> {
  // A run that this runtime owns but does not drive is left over from a store failure.
  const isOther = run.ownerId !== null && run.ownerId !== host.ownerId;
  if (isOther && (await host.isOwnerAlive(run.ownerId))) {
    throw new ToolwrightError("TOOL_RUN_CONFLICT", `Run "${run.runId}" is running in another process.`, {
      details: { runId: run.runId },
    });
  }
  return claimRun(host, run.runId, run.epoch + 1, function* () {
    const taken = yield* takeRun(run, {
      ownerId: host.ownerId,
      shape,
      file: file === undefined ? run.file : resolve(file),
      // Options that are passed now also apply to the next resume.
      optionsJson: encode(start),
      updatedAtMs: host.clock.now(),
    });
    // Otherwise a worker with the old build would continue it with the old code.
    if (isAccepted && taken.kind === "taken") yield* unpinRun(run.runId);
    yield* recordIfNew(host, run);
    return taken;
  });
}

/** A run that was enqueued starts now. */
export function* recordIfNew(host: Host, { runId, shape }: WorkflowRunRow): Transaction<void> {
  if (shape === "" && host.recording === "keep") yield* startRecording(runId);
}

/** The file that was passed, else the stored one if it still exists. */
export function fileOf(
  options: { readonly file?: string | undefined },
  stored: WorkflowRunRow | undefined,
): string | undefined {
  if (options.file !== undefined) return options.file;
  return stored?.file != null && existsSync(stored.file) ? stored.file : undefined;
}

/**
 * @param shape of the current workflow. A run that a program started is stored without a file, so its schema keys are
 * compared, even if a file is passed now.
 */
export function hasChanged(
  stored: WorkflowRunRow,
  workflow: WorkflowDefinition,
  shape: string,
  file?: string,
): boolean {
  // Enqueued, and not started yet.
  if (stored.shape === "") return false;
  if (stored.file === null) return stored.shape !== shapeOf(workflow, undefined);
  if (stored.shape === shape) return false;
  // Version 0.1 stored a digest of the file alone.
  return file === undefined || stored.shape !== sha256(readFileSync(file, "utf8"));
}

/** A digest that detects changes: of the file and its local imports if there is one, since only they contain all code. */
export function shapeOf(workflow: WorkflowDefinition, file: string | undefined): string {
  if (file !== undefined) return codeDigest(file);
  return sha256(Object.keys(workflow.schemas).join(","));
}
