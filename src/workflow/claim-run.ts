/** Makes a run this process's own: a new one, or one that nobody alive is at work on. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ToolwrightError } from "../errors.ts";
import type { Host } from "../invoke/host.ts";
import { assertNotDeleted } from "../store/tables/tombstones.ts";
import { insertRun, type TakenRun, takeRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { encode } from "../util/encode.ts";
import { sha256 } from "../util/hash.ts";
import type { WorkflowDefinition } from "./create-smithers.ts";

export interface NewRun {
  readonly runId: string;
  readonly name: string;
  readonly shape: string;
  readonly input: unknown;
  /** Options that hold for a resume. */
  readonly start: object;
  readonly file: string | undefined;
}

/** `undefined` when another process has begun a run of this id in the meantime. */
export async function beginRun(
  host: Host,
  { runId, name, shape, input, start, file }: NewRun,
): Promise<number | undefined> {
  const inserted = await host.store.transaction(function* () {
    const changes = yield* insertRun({
      runId,
      workflow: name,
      file: file === undefined ? null : resolve(file),
      shape,
      inputJson: encode(input),
      optionsJson: encode(start),
      ownerId: host.ownerId,
      createdAtMs: host.clock.now(),
    });
    // After the insert, which waits for a retention that is deleting a run of this id.
    yield* assertNotDeleted(runId);
    return changes;
  }, "normal");
  return inserted === 1 ? 1 : undefined;
}

export function existsError({ runId, status }: WorkflowRunRow): ToolwrightError {
  return new ToolwrightError("WORKFLOW_RUN_EXISTS", `A run "${runId}" exists already; it is "${status}".`, {
    details: { runId, status },
  });
}

export function changedError(run: WorkflowRunRow): ToolwrightError {
  return new ToolwrightError(
    "WORKFLOW_RUN_CHANGED",
    `${run.file ?? `Workflow "${run.workflow}"`} has changed since run "${run.runId}" was started. Finished tasks stay finished; the rest would follow the new version.`,
    {
      details: { runId: run.runId, file: run.file },
      hint: "Pass acceptChanges: true, or --accept-changes on the command line.",
    },
  );
}

/** Does the work of a run, which this runtime does once at a time. */
export async function whileAtWork<T>(host: Host, runId: string, work: () => Promise<T>): Promise<T> {
  if (host.runsAtWork.has(runId))
    throw new ToolwrightError("TOOL_RUN_CONFLICT", `Run "${runId}" is running in this process already.`, {
      details: { runId },
    });
  host.runsAtWork.add(runId);
  try {
    return await work();
  } finally {
    host.runsAtWork.delete(runId);
  }
}

/** Never takes over from a live owner; replaces a dead one at once. Call it inside `whileAtWork`. */
export async function takeOverRun(
  host: Host,
  run: WorkflowRunRow,
  { shape, start, file }: Pick<NewRun, "shape" | "start" | "file">,
): Promise<TakenRun> {
  // What this runtime owns and is not at work on was left when the store failed.
  const isOther = run.ownerId !== null && run.ownerId !== host.ownerId;
  if (isOther && (await host.isOwnerAlive(run.ownerId))) {
    throw new ToolwrightError(
      "TOOL_RUN_CONFLICT",
      `Run "${run.runId}" is running in another process that is alive.`,
      {
        details: { runId: run.runId },
      },
    );
  }
  return host.store.transaction(
    () =>
      takeRun(run, {
        ownerId: host.ownerId,
        shape,
        file: file === undefined ? run.file : resolve(file),
        // What is given again holds from now on, for the next resume too.
        optionsJson: encode(start),
        updatedAtMs: host.clock.now(),
      }),
    "normal",
  );
}

/** The file that a run is known by: the one that is given now, else the stored one while it is there. */
export function fileOf(
  options: { readonly file?: string | undefined },
  known: WorkflowRunRow | undefined,
): string | undefined {
  if (options.file !== undefined) return options.file;
  return known?.file != null && existsSync(known.file) ? known.file : undefined;
}

/**
 * @param shape of the workflow as it is now. A run that a program started is stored without a file: it is compared by
 * what the program had, also where a file is given now.
 */
export function hasChanged(known: WorkflowRunRow, workflow: WorkflowDefinition, shape: string): boolean {
  return known.shape !== (known.file === null ? shapeOf(workflow, undefined) : shape);
}

/** What the run depends on: the file where there is one, since only that tells of all its code. */
export function shapeOf(workflow: WorkflowDefinition, file: string | undefined): string {
  if (file !== undefined) return sha256(readFileSync(file, "utf8"));
  return sha256(Object.keys(workflow.schemas).join(","));
}
