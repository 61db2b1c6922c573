/** Approval requests and their decisions. These rows are the only source of a decision. */
import { readInteger, readIntegerOrNull, readText } from "./columns.ts";
import { all, change, first, type Row, type SqlValue } from "../statement.ts";
import { APPROVAL_STATUSES, type ApprovalStatus } from "../run-words.ts";
import type { Transaction } from "../store.ts";
import {
  columns,
  displayText,
  displayTextOrNull,
  flag,
  integer,
  integerOrNull,
  oneOf,
  type RowOf,
  text,
  textOrNull,
} from "./table.ts";

export const APPROVAL_KINDS = ["call", "replay", "task"] as const;
/** `call`: may it run? `replay`: did the interrupted call happen, or should it run again? `task`: may it start? */
export type ApprovalKind = (typeof APPROVAL_KINDS)[number];

const REQUEST = columns({
  id: text("id"),
  kind: oneOf("kind", APPROVAL_KINDS),
  runId: text("run_id"),
  nodeId: text("node_id"),
  iteration: integer("iteration"),
  scopeId: integer("scope_id"),
  callKey: text("call_key"),
  parentKey: text("parent_key"),
  round: integer("round"),
  toolName: text("tool_name"),
  fingerprint: text("fingerprint"),
  argsJson: text("args_json"),
  argsHash: text("args_hash"),
  prompt: displayText("prompt"),
  defaultsJson: textOrNull("defaults_json"),
  /** The schemas and redactions that a decision is checked against. */
  contractJson: text("contract_json"),
  requestedAtMs: integer("requested_at_ms"),
  expiresAtMs: integerOrNull("expires_at_ms"),
  /** Whether the arguments contain values that the log does not show. */
  hasClearArgs: flag("clear_args"),
});

const DECISION = columns({
  decidedAtMs: integerOrNull("decided_at_ms"),
  decidedBy: displayTextOrNull("decided_by"),
  comment: displayTextOrNull("comment"),
  approvedArgsJson: textOrNull("approved_args_json"),
  outputJson: textOrNull("output_json"),
});

const APPROVALS = columns({
  ...REQUEST.map,
  status: oneOf("status", APPROVAL_STATUSES),
  ...DECISION.map,
  redeemedAtMs: integerOrNull("redeemed_at_ms"),
});

export type ApprovalRow = RowOf<(typeof APPROVALS)["map"]>;
export type NewApproval = RowOf<(typeof REQUEST)["map"]>;

const INSERT = `INSERT INTO toolwright_approvals (status, ${REQUEST.list()})
VALUES ('pending', ${REQUEST.parameters()}) ON CONFLICT DO NOTHING`;

/** The id derives from the call, so two processes that request approval at once share one request. */
export function* insertApproval(approval: NewApproval): Transaction<void> {
  yield* change(INSERT, ...REQUEST.values(approval));
}

/** How many requests are pending, and when the oldest was made. */
export function* countPending(nowMs: number): Transaction<{ count: number; oldestAtMs: number | null }> {
  const row = yield* first(
    `SELECT COUNT(*) AS count, MIN(requested_at_ms) AS oldest FROM toolwright_approvals
     WHERE status = 'pending' AND (expires_at_ms IS NULL OR expires_at_ms > ?1)`,
    nowMs,
  );
  if (row === undefined) return { count: 0, oldestAtMs: null };
  return { count: readInteger(row, "count"), oldestAtMs: readIntegerOrNull(row, "oldest") };
}

export interface DecidedWait {
  readonly waitedMs: number;
  readonly approved: boolean;
}

const UNMEASURED = `decided_at_ms > ?1 AND decided_at_ms IS NOT NULL AND is_measured IS NULL
  AND status IN ('approved', 'denied')`;

/** Whether a request was decided since then, and its wait was not reported. */
export function* hasUnmeasured(sinceMs: number): Transaction<boolean> {
  const row = yield* first(
    `SELECT 1 AS found FROM toolwright_approvals WHERE ${UNMEASURED} LIMIT 1`,
    sinceMs,
  );
  return row !== undefined;
}

/** Their waits. The caller reports them: no other process will. */
export function* takeUnmeasured(sinceMs: number): Transaction<DecidedWait[]> {
  const rows = yield* all(
    `UPDATE toolwright_approvals SET is_measured = 1 WHERE ${UNMEASURED}
     RETURNING requested_at_ms, decided_at_ms, status`,
    sinceMs,
  );
  return rows.map((row) => ({
    waitedMs: Math.max(0, readInteger(row, "decided_at_ms") - readInteger(row, "requested_at_ms")),
    approved: readText(row, "status") === "approved",
  }));
}

/** This process reports the wait itself. */
export function markMeasured(id: string): Transaction<number> {
  return change("UPDATE toolwright_approvals SET is_measured = 1 WHERE id = ?1", id);
}

const COLUMNS = APPROVALS.list("a");
const SELECT = `SELECT ${COLUMNS} FROM toolwright_approvals a`;
const BY_ID = `${SELECT} WHERE a.id = ?1 {update}`;
const OF_CALL = `${SELECT} WHERE a.call_key = ?1 ORDER BY a.round DESC LIMIT 1`;

export interface ApprovalFilter {
  readonly status?: ApprovalStatus | undefined;
  readonly runId?: string | undefined;
  /** How many at most. Default: all. */
  readonly limit?: number | undefined;
}

/** Oldest first. A pending request past its deadline is shown as expired. */
export function* listApprovals(filter: ApprovalFilter, nowMs: number): Transaction<ApprovalRow[]> {
  const { where, parameters } = conditionsOf(filter, nowMs);
  const limit = filter.limit === undefined ? "" : `LIMIT ?${parameters.push(filter.limit)}`;
  const rows = yield* all(`${SELECT} ${where} ORDER BY position ${limit}`, ...parameters);
  return rows.map((row) => toApprovalRow(row, nowMs));
}

/** The number of requests, regardless of the limit. */
export function* countApprovals(filter: ApprovalFilter, nowMs: number): Transaction<number> {
  const { where, parameters } = conditionsOf(filter, nowMs);
  const row = yield* first(
    `SELECT CAST(COUNT(*) AS BIGINT) AS requests FROM toolwright_approvals ${where}`,
    ...parameters,
  );
  return row === undefined ? 0 : readInteger(row, "requests");
}

/** Expiry follows from the time, without a write: an expired request is stored as pending. */
function conditionsOf(
  { status, runId }: ApprovalFilter,
  nowMs: number,
): { readonly where: string; readonly parameters: SqlValue[] } {
  const conditions: string[] = [];
  const parameters: SqlValue[] = [];
  if (status === "pending" || status === "expired") {
    const isExpired = `expires_at_ms <= ?${parameters.push(nowMs)}`;
    conditions.push("status = 'pending'", status === "expired" ? isExpired : `(${isExpired}) IS NOT TRUE`);
  } else if (status !== undefined) conditions.push(`status = ?${parameters.push(status)}`);
  if (runId !== undefined) conditions.push(`run_id = ?${parameters.push(runId)}`);
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, parameters };
}

export function* readApproval(id: string, nowMs: number): Transaction<ApprovalRow | undefined> {
  const row = yield* first(BY_ID, id);
  return row === undefined ? undefined : toApprovalRow(row, nowMs);
}

const IS_UNDECIDED = "c.status = 'pending' AND a.status IN ('pending', 'denied')";

/** The latest request about a call. */
export function* approvalOfCall(callKey: string, nowMs: number): Transaction<ApprovalRow | undefined> {
  const row = yield* first(OF_CALL, callKey);
  return row === undefined ? undefined : toApprovalRow(row, nowMs);
}

/** Requests of waiting calls with this tool call id. Denying an equal call denies a request, but leaves its call waiting. */
export function* waitingUnderId(
  runId: string,
  nodeId: string,
  toolCallId: string,
): Transaction<readonly string[]> {
  const rows = yield* all(
    `SELECT a.id AS id FROM toolwright_approvals a
       JOIN toolwright_calls c ON c.scope_id = a.scope_id AND c.key = a.call_key
     WHERE a.run_id = ?1 AND a.node_id = ?2 AND a.kind = 'call' AND c.tool_call_id = ?3 AND ${IS_UNDECIDED}`,
    runId,
    nodeId,
    toolCallId,
  );
  return rows.map((row) => readText(row, "id"));
}

/** The ids under which a model called one tool in a scope, of the calls that wait for a decision. */
export function* waitingCallsOf(scopeId: number, toolName: string): Transaction<readonly string[]> {
  const rows = yield* all(
    `SELECT c.tool_call_id AS tool_call_id FROM toolwright_approvals a
       JOIN toolwright_calls c ON c.scope_id = a.scope_id AND c.key = a.call_key
     WHERE a.scope_id = ?1 AND a.tool_name = ?2 AND a.kind = 'call' AND c.tool_call_id IS NOT NULL AND ${IS_UNDECIDED}`,
    scopeId,
    toolName,
  );
  return rows.map((row) => readText(row, "tool_call_id"));
}

/**
 * The latest unused decision about an interrupted call with this business key: it happened, or run it again. A decision to
 * give up applies only to the call that it was made for.
 */
export function* answerUnderKey(
  toolName: string,
  idempotencyKey: string,
  sinceMs: number,
  nowMs: number,
): Transaction<ApprovalRow | undefined> {
  const row = yield* first(
    `${SELECT}
       JOIN toolwright_calls c ON c.scope_id = a.scope_id AND c.key = a.call_key
     WHERE a.status = 'approved' AND a.kind = 'replay' AND a.redeemed_at_ms IS NULL AND a.tool_name = ?1
       AND c.idempotency_key = ?2 AND a.requested_at_ms >= ?3
     ORDER BY a.position DESC LIMIT 1`,
    toolName,
    idempotencyKey,
    sinceMs,
  );
  return row === undefined ? undefined : toApprovalRow(row, nowMs);
}

/** A denial of an equal call anywhere in the same task iteration. */
export function* denialOf(
  task: { readonly runId: string; readonly nodeId: string; readonly path: string },
  toolName: string,
  argsHash: string,
  nowMs: number,
): Transaction<ApprovalRow | undefined> {
  const row = yield* first(
    `SELECT ${COLUMNS} FROM toolwright_scopes s JOIN toolwright_approvals a ON a.scope_id = s.id
     WHERE s.run_id = ?1 AND s.node_id = ?2 AND s.path = ?3
       AND a.tool_name = ?4 AND a.args_hash = ?5 AND a.status = 'denied' AND a.kind = 'call' LIMIT 1`,
    task.runId,
    task.nodeId,
    task.path,
    toolName,
    argsHash,
  );
  return row === undefined ? undefined : toApprovalRow(row, nowMs);
}

export interface StoredDecision extends Omit<RowOf<(typeof DECISION)["map"]>, "decidedAtMs"> {
  readonly status: "approved" | "denied";
  readonly decidedAtMs: number;
  /** The hash of the edited arguments: a later attempt may call the tool with these. */
  readonly approvedHash: string | null;
}

const SETTLE = `UPDATE toolwright_approvals SET status = ?2, approved_hash = ?3, ${DECISION.assignments(4)}
WHERE id = ?1 AND status = 'pending'`;

/** 0 when the request was decided before. */
export function settleApproval(id: string, decision: StoredDecision): Transaction<number> {
  return change(SETTLE, id, decision.status, decision.approvedHash, ...DECISION.values(decision));
}

/** A denial applies to every equal call of the task iteration, including pending ones. */
export function denyEqualRequests(denied: ApprovalRow): Transaction<number> {
  return change(
    `UPDATE toolwright_approvals SET status = 'denied', decided_at_ms = ?5, decided_by = ?6, comment = ?7
     WHERE tool_name = ?2 AND args_hash = ?3 AND id <> ?4 AND kind = 'call' AND status = 'pending' AND scope_id IN
       (SELECT other.id FROM toolwright_scopes one JOIN toolwright_scopes other
          ON other.run_id = one.run_id AND other.node_id = one.node_id AND other.path = one.path
        WHERE one.id = ?1)`,
    denied.scopeId,
    denied.toolName,
    denied.argsHash,
    denied.id,
    denied.decidedAtMs,
    denied.decidedBy,
    denied.comment,
  );
}

/** One decision about a business key is enough: the other calls with that key need none. */
export function voidEqualQuestions(answered: ApprovalRow): Transaction<number> {
  return change(
    `UPDATE toolwright_approvals SET status = 'void'
     WHERE status = 'pending' AND kind = 'replay' AND tool_name = ?1 AND id <> ?2 AND EXISTS
       (SELECT 1 FROM toolwright_calls own JOIN toolwright_calls other ON other.idempotency_key = own.idempotency_key
        WHERE own.scope_id = ?3 AND own.key = ?4 AND other.scope_id = toolwright_approvals.scope_id
          AND other.key = toolwright_approvals.call_key)`,
    answered.toolName,
    answered.id,
    answered.scopeId,
    answered.callKey,
  );
}

/** 0 when the approval was used before: it is valid once. */
export function redeemApproval(id: string, nowMs: number): Transaction<number> {
  return change(
    `UPDATE toolwright_approvals SET redeemed_at_ms = ?2
     WHERE id = ?1 AND status = 'approved' AND redeemed_at_ms IS NULL`,
    id,
    nowMs,
  );
}

/** Calls of this scope that ran with these arguments because the approver edited them. */
export function* callsWithEditedArguments(
  scopeId: number,
  toolName: string,
  approvedHash: string,
): Transaction<string[]> {
  const rows = yield* all(
    `SELECT call_key FROM toolwright_approvals
     WHERE scope_id = ?1 AND approved_hash = ?3 AND tool_name = ?2 AND redeemed_at_ms IS NOT NULL
     ORDER BY position`,
    scopeId,
    toolName,
    approvedHash,
  );
  return rows.map((row) => readText(row, "call_key"));
}

/** The end of a task voids the pending requests of its calls and their inner calls. */
export function* voidApprovalsOfTask(task: {
  readonly runId: string;
  readonly nodeId: string;
  readonly path: string;
}): Transaction<void> {
  // By the calls of the task, which are stored together: a store may hold many pending requests.
  const rows = yield* all(
    `SELECT a.id AS id FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
       JOIN toolwright_approvals a ON a.call_key = c.key
     WHERE s.run_id = ?1 AND s.node_id = ?2 AND s.path = ?3 AND c.status = 'pending' AND a.status = 'pending'`,
    task.runId,
    task.nodeId,
    task.path,
  );
  for (const row of rows) yield* voidPending(readText(row, "id"));
}

/** A cancelled run has no pending requests: a resume creates them again. */
export function voidApprovalsOfRun(runId: string): Transaction<number> {
  return change(
    "UPDATE toolwright_approvals SET status = 'void' WHERE run_id = ?1 AND status = 'pending'",
    runId,
  );
}

/** Makes a void request pending again. */
export function reopenApproval(id: string, nowMs: number): Transaction<number> {
  return change(
    "UPDATE toolwright_approvals SET status = 'pending', requested_at_ms = ?2 WHERE id = ?1 AND status = 'void'",
    id,
    nowMs,
  );
}

/** Changes nothing after a decision. */
export function voidPending(id: string): Transaction<number> {
  return change("UPDATE toolwright_approvals SET status = 'void' WHERE id = ?1 AND status = 'pending'", id);
}

export function voidApproval(id: string): Transaction<number> {
  return change("UPDATE toolwright_approvals SET status = 'void' WHERE id = ?1", id);
}

function toApprovalRow(row: Row, nowMs: number): ApprovalRow {
  const stored = APPROVALS.parse(row);
  const isExpired = stored.status === "pending" && stored.expiresAtMs !== null && stored.expiresAtMs <= nowMs;
  return isExpired ? { ...stored, status: "expired" } : stored;
}
