/**
 * Runs of every kind, as operators see them: kind, name, state, times, labels. Rows of workflows follow
 * `toolwright_workflow_runs` by triggers; all others are written here, in the transactions that open and close scopes.
 */
import { readText } from "./columns.ts";
import { all, change, changeBy, first } from "../statement.ts";
import { RUN_KINDS, RUN_STATES, type RunKind } from "../run-words.ts";
import type { Transaction } from "../store.ts";
import { ToolwrightError } from "../../errors.ts";
import { encode } from "../../util/encode.ts";
import { columns, integer, integerOrNull, oneOf, type RowOf, text, textOrNull } from "./table.ts";

export type Labels = Readonly<Record<string, string>>;

export const RUNS = columns({
  runId: text("id"),
  kind: oneOf("kind", RUN_KINDS),
  name: text("name"),
  state: oneOf("state", RUN_STATES),
  ownerId: textOrNull("owner_id"),
  parentId: textOrNull("parent_id"),
  createdAtMs: integer("created_at_ms"),
  updatedAtMs: integer("updated_at_ms"),
  finishedAtMs: integerOrNull("finished_at_ms"),
  /** From when a worker may take it. `null`: it needs none. */
  readyAtMs: integerOrNull("ready_at_ms"),
  /** Why no worker may take it although it is ready. */
  parked: textOrNull("parked"),
  code: textOrNull("code"),
  onChange: textOrNull("on_change"),
  build: textOrNull("build"),
  host: textOrNull("host"),
});

/** Lists show short errors; a long one is read with its run. */
export const SHORT_ERROR = "CASE WHEN octet_length(error_json) <= 4000 THEN error_json END AS error_json";

export type RunRow = RowOf<(typeof RUNS)["map"]> & { readonly errorJson: string | null };

const LONGEST_NAME = 200;

/** As the triggers of workflow runs cut it. */
export function listedName(name: string): string {
  return Array.from(name.slice(0, 2 * LONGEST_NAME))
    .slice(0, LONGEST_NAME)
    .join("")
    .toWellFormed();
}

/** Stored as the input of a program that was started with a name and without an input. */
export const NO_INPUT = encode(undefined);

/**
 * Whether a worker that knows the name of the run can run it: it was enqueued, or its program gave it a name, or it is a smart
 * agent. The name of any other run is only shown in lists, such as the name of a tool, and a worker that serves something
 * else under it would fail the run.
 */
export const IS_FOR_WORKERS = `(kind = 'workflow' OR input_json IS NOT NULL OR (kind = 'agent' AND EXISTS (
  SELECT 1 FROM toolwright_turns t WHERE t.run_id = toolwright_runs.id AND t.kind = 'agent')))`;

/** The columns that are known when a run's first scope opens. */
export interface RunStart {
  readonly kind: RunKind;
  readonly name: string;
  readonly ownerId: string | null;
  readonly labels?: Labels | undefined;
  /** For a worker that resumes the run: only if the run has a name that workers may know. */
  readonly inputJson?: string | undefined;
  /** A run that starts now keeps its model responses. */
  readonly isRecorded?: boolean | undefined;
}

const INSERT = `INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms, kind, name, state, owner_id, input_json)
VALUES (?1, 'open', ?2, ?2, ?3, ?4, 'running', ?5, ?6) ON CONFLICT DO NOTHING`;

/** Lists a run unless it is listed. Returns whether it is new. */
export function* insertRunRow(runId: string, run: RunStart, nowMs: number): Transaction<boolean> {
  const { kind, name, ownerId, inputJson = null } = run;
  const isNew = (yield* change(INSERT, runId, nowMs, kind, listedName(name), ownerId, inputJson)) > 0;
  if (isNew && run.labels !== undefined) yield* insertLabels(runId, run.labels, nowMs);
  return isNew;
}

/** The labels of a run that is new. @param createdAtMs of the run */
export function* insertLabels(runId: string, labels: Labels, createdAtMs: number): Transaction<void> {
  for (const [key, value] of Object.entries(labels)) {
    yield* change(
      `INSERT INTO toolwright_run_labels (key, value, created_at_ms, run_id) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING`,
      key,
      value,
      createdAtMs,
      runId,
    );
  }
}

/** Never `created_at_ms`: `finishRun` sees by that whether the run was reopened. */
const REOPENED_AT =
  "CASE WHEN CAST(?3 AS BIGINT) > created_at_ms THEN CAST(?3 AS BIGINT) ELSE created_at_ms + 1 END";

/** What opens a scope: the kind of its run, or a bare call, which never continues an agent or a program. */
export type OpenerKind = RunKind | "call";

/**
 * The run belongs to workers, and another process would end it before one takes it: it was enqueued and no worker has taken it
 * yet, or it is ready for a worker and something else than itself opens a scope in it. A call that arrives between two workers
 * must not end a program that one of them has given back.
 */
const IS_KEPT_FOR_WORKERS = `(claimed_by IS NULL AND ((state = 'queued' AND claim_epoch = 0 AND parent_id IS NULL)
  OR (((kind = 'agent' AND ?5 <> 'agent') OR ?5 = 'call')
    AND ready_at_ms IS NOT NULL AND state IN ('queued', 'waiting-approval'))))`;

/**
 * A scope of the run opens. Runs of workflows have their own status. A run that its own program resumes no
 * longer waits for a worker. A worker gets the enqueued input, even if the program that it runs stores an input itself.
 * @param opener its `inputJson`, if there is one, replaces the stored input
 * @throws TOOL_RUN_TAKEN for a run that a worker has to take
 */
export function* reopenRun(
  runId: string,
  opener: Pick<RunStart, "inputJson"> & { readonly kind: OpenerKind; readonly ownerId: string },
  nowMs: number,
): Transaction<void> {
  const { kind, inputJson = null, ownerId } = opener;
  const reopened = yield* change(
    `UPDATE toolwright_runs SET state = 'running', owner_id = COALESCE(claimed_by, ?2), updated_at_ms = ${REOPENED_AT}, finished_at_ms = NULL,
       error_json = CASE WHEN state = 'running' THEN error_json END,
       input_json = CASE WHEN claimed_by IS NOT NULL OR ?4 = '${NO_INPUT}' THEN COALESCE(input_json, ?4)
         ELSE COALESCE(?4, input_json) END,
       ready_at_ms = CASE WHEN claimed_by IS NOT NULL OR state = 'running' THEN ready_at_ms END,
       is_due = CASE WHEN claimed_by IS NOT NULL OR state = 'running' THEN is_due ELSE 0 END
     WHERE id = ?1 AND status = 'open' AND kind <> 'workflow' AND NOT ${IS_KEPT_FOR_WORKERS}`,
    runId,
    ownerId,
    nowMs,
    inputJson,
    kind,
  );
  if (reopened > 0) return;
  const row = yield* readRunRow(runId);
  if (row !== undefined && row.kind !== "workflow") throw keptForWorkers(row);
}

export function keptForWorkers({ runId, kind, name, state }: RunRow): ToolwrightError {
  const details = { runId, kind, name, status: state };
  if (state === "running")
    return new ToolwrightError(
      "TOOL_RUN_TAKEN",
      `The worker of run "${runId}" has died: the next one continues it as the ${kind} "${name}".`,
      {
        details,
        effect: "none",
        hint: `Use another run id, or let a worker or your program resume the ${kind} first.`,
      },
    );
  if (state === "queued")
    return new ToolwrightError(
      "TOOL_RUN_TAKEN",
      `Run "${runId}" is queued: a worker runs it as the ${kind} "${name}".`,
      {
        details,
        effect: "none",
        hint: "Use another run id. To do its work here instead, cancel the run first.",
      },
    );
  return new ToolwrightError(
    "TOOL_RUN_TAKEN",
    `The ${kind} "${name}" of run "${runId}" has a decision that it has not used yet.`,
    {
      details,
      effect: "none",
      hint: `Use another run id, or let a worker or your program resume the ${kind} first.`,
    },
  );
}

/** The open scopes `s` of a run. */
export const OPEN_SCOPE = "FROM toolwright_scopes s WHERE s.run_id = ?1 AND s.owner_id IS NOT NULL";
/** A worker ends the runs that it has claimed itself: its program may open several scopes, one after the other. */
const IS_OPEN = `(claimed_by IS NOT NULL OR EXISTS (SELECT 1 ${OPEN_SCOPE}))`;
const IS_WAITING = `(CAST(?4 AS BIGINT) = 1
  OR EXISTS (SELECT 1 FROM toolwright_approvals a WHERE a.run_id = ?1 AND a.status = 'pending'))`;

const SETTLE = `UPDATE toolwright_runs SET updated_at_ms = ?2, error_json = COALESCE(?3, error_json),
  owner_id = COALESCE(claimed_by, (SELECT MIN(s.owner_id) ${OPEN_SCOPE})),
  state = CASE WHEN ${IS_OPEN} THEN 'running' WHEN ${IS_WAITING} THEN 'waiting-approval'
    WHEN COALESCE(?3, error_json) IS NULL THEN 'finished' ELSE 'failed' END,
  finished_at_ms = CASE WHEN ${IS_OPEN} OR ${IS_WAITING} THEN NULL ELSE CAST(?2 AS BIGINT) END,
  input_json = CASE WHEN ${IS_OPEN} OR ${IS_WAITING} OR COALESCE(?3, error_json) IS NOT NULL THEN input_json END,
  ready_at_ms = CASE WHEN ${IS_OPEN} OR ${IS_WAITING} THEN ready_at_ms END,
  is_due = CASE WHEN ${IS_OPEN} OR ${IS_WAITING} THEN is_due ELSE 0 END
WHERE id = ?1 AND status = 'open' AND kind <> 'workflow'`;

/**
 * A scope of the run has closed, in this transaction. The run has ended when none is open and no request is pending. It
 * failed if one of its scopes did.
 * @param isWaiting its work ended because a call waits. The decision may be made already: then no request is pending.
 */
export function* settleRun(
  runId: string,
  errorJson: string | null,
  nowMs: number,
  isWaiting = false,
): Transaction<number> {
  // A statement that waits for the row sees the scopes as they were before. Lock first: the next statement sees the
  // opened scopes.
  yield* first("SELECT 1 FROM toolwright_runs WHERE id = ?1 {update}", runId);
  return yield* change(SETTLE, runId, nowMs, errorJson, Number(isWaiting));
}

const FINISH = `UPDATE toolwright_runs SET updated_at_ms = ?2, finished_at_ms = ?2, owner_id = NULL, state = 'finished'
WHERE id = ?1 AND status = 'open' AND kind <> 'workflow' AND owner_id = ?3 AND updated_at_ms = created_at_ms
  AND NOT EXISTS (SELECT 1 ${OPEN_SCOPE})`;

/**
 * The same for a run that this process has just created for one call. 0 if the run has changed since: a tool was called in
 * it, or a task of it was opened. Then that call or task settles the run, or has done so. The condition is on the row
 * itself: this statement takes no lock first, so that a single call costs no more, and if it waits for the row it does
 * not see what was opened meanwhile.
 */
export function finishRun(runId: string, ownerId: string, nowMs: number): Transaction<number> {
  return change(FINISH, runId, nowMs, ownerId);
}

/** For a run without a live owner that is not a workflow. 0 when it has changed since it was read. */
export function cancelRunRow({ runId, state, ownerId }: RunRow, nowMs: number): Transaction<number> {
  return change(
    `UPDATE toolwright_runs SET state = 'cancelled', owner_id = NULL, updated_at_ms = ?2, finished_at_ms = ?2,
       ready_at_ms = NULL, is_due = 0, parked = NULL, claimed_by = NULL, claim_epoch = claim_epoch + 1
     WHERE id = ?1 AND status = 'open' AND kind <> 'workflow' AND state = ?3 AND COALESCE(owner_id, '') = ?4`,
    runId,
    nowMs,
    state,
    ownerId ?? "",
  );
}

/** A run that used files stays on the host that has them. */
export function bindRun(runId: string, host: string): Transaction<number> {
  return change("UPDATE toolwright_runs SET host = ?2 WHERE id = ?1 AND host IS NULL", runId, host);
}

/** `undefined` for a run that retention has deleted, too. */
export function* readRunRow(runId: string): Transaction<RunRow | undefined> {
  const row = yield* first(
    `SELECT ${RUNS.list()}, error_json FROM toolwright_runs WHERE id = ?1 AND status = 'open'`,
    runId,
  );
  return row && { ...RUNS.parse(row), errorJson: row["error_json"] as string | null };
}

/** Ids of the runs that were forked from this one, oldest first. */
export function* readForks(runId: string, limit: number): Transaction<string[]> {
  const rows = yield* all(
    `SELECT id FROM toolwright_runs WHERE parent_id = ?1 AND parent_id IS NOT NULL AND status = 'open'
     ORDER BY created_at_ms LIMIT ?2`,
    runId,
    limit,
  );
  return rows.map((row) => readText(row, "id"));
}

const SAVE_OUTLINE = `INSERT INTO toolwright_outlines (run_id, outline_json)
SELECT ?1, ?3 FROM toolwright_workflow_runs WHERE run_id = ?1 AND epoch = ?2 {share}
ON CONFLICT (run_id) DO UPDATE SET outline_json = excluded.outline_json`;

/**
 * The latest tree of a workflow run. 0 when the run was taken over.
 * @param isLast nothing follows in its transaction
 */
export function saveOutline(
  runId: string,
  epoch: number,
  outlineJson: string,
  isLast = false,
): Transaction<number> {
  return changeBy({ kind: "change", sql: SAVE_OUTLINE, parameters: [runId, epoch, outlineJson], isLast });
}

export function* readOutline(runId: string): Transaction<string | undefined> {
  const row = yield* first("SELECT outline_json FROM toolwright_outlines WHERE run_id = ?1", runId);
  return row && readText(row, "outline_json");
}
