/**
 * Reads the log. The view shows stored rows; this reader reports a call whose owner is dead as `unknown`, as the next process
 * will find it.
 */
import { CALL_STATUSES, type CallStatus } from "./calls.ts";
import { readTextOrNull } from "./columns.ts";
import { all, type SqlValue } from "../statement.ts";
import { type IsOwnerAlive, reportInterrupted } from "./report-interrupted.ts";
import type { Store, Transaction } from "../store.ts";
import { type Column, columns, flag, integer, integerOrNull, oneOf, text, textOrNull } from "./table.ts";

/** One row of `_smithers_tool_calls`. */
export interface LoggedCall {
  readonly runId: string;
  readonly nodeId: string;
  /** The pass of the innermost loop. */
  readonly iteration: number;
  /** The full path of loop passes, such as "1.0". */
  readonly path: string;
  readonly attempt: number;
  readonly seq: number;
  readonly toolName: string;
  readonly inputJson: string | null;
  readonly outputJson: string | null;
  readonly startedAtMs: number;
  readonly finishedAtMs: number | null;
  readonly status: CallStatus;
  readonly errorJson: string | null;
  readonly key: string;
  readonly idempotencyKey: string;
  readonly toolCallId: string | null;
  readonly replayed: boolean;
  readonly fromCache: boolean;
  readonly tries: number;
  readonly effect: string | null;
  readonly isolation: string | null;
  readonly approvalId: string | null;
  readonly approval: string | null;
  readonly parentKey: string;
}

export interface CallFilter {
  readonly runId?: string | undefined;
  readonly nodeId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly status?: CallStatus | undefined;
  readonly limit?: number | undefined;
}

/** Columns of the view, one for each property of the public type. */
const LOG = columns<{ readonly [P in keyof LoggedCall]: Column<LoggedCall[P]> }>({
  runId: text("run_id"),
  nodeId: text("node_id"),
  iteration: integer("iteration"),
  path: text("path"),
  attempt: integer("attempt"),
  seq: integer("seq"),
  toolName: text("tool_name"),
  inputJson: textOrNull("input_json"),
  outputJson: textOrNull("output_json"),
  startedAtMs: integer("started_at_ms"),
  finishedAtMs: integerOrNull("finished_at_ms"),
  status: oneOf("status", CALL_STATUSES),
  errorJson: textOrNull("error_json"),
  key: text("key"),
  idempotencyKey: text("idempotency_key"),
  toolCallId: textOrNull("tool_call_id"),
  replayed: flag("replayed"),
  fromCache: flag("from_cache"),
  tries: integer("tries"),
  effect: textOrNull("effect"),
  isolation: textOrNull("isolation"),
  approvalId: textOrNull("approval_id"),
  approval: textOrNull("approval"),
  parentKey: text("parent_key"),
});

const FILTERS = { runId: "run_id", nodeId: "node_id", toolName: "tool_name", status: "status" } as const;

/** In the order of their start. */
export async function readCallLog(
  store: Store,
  filter: CallFilter,
  isOwnerAlive: IsOwnerAlive,
): Promise<LoggedCall[]> {
  const { status, limit, ...rest } = filter;
  const needsOwnerCheck = status === "started" || status === "unknown";
  // Which calls count as unknown depends on whether their owners are alive.
  const wanted = needsOwnerCheck
    ? { ...rest, status: ["started", "unknown"] as const }
    : { ...filter, status };
  const read = () => store.read(() => selectCalls(wanted));
  const { found, reported } = await reportInterrupted(read, (calls) => calls, isOwnerAlive);
  const calls = found.map((stored) => ({ ...stored.call, status: reported(stored).status }));
  return calls.filter((call) => !needsOwnerCheck || call.status === status).slice(0, limit);
}

interface StoredCall {
  readonly call: LoggedCall;
  readonly status: CallStatus;
  readonly ownerId: string | null;
}

type StoredFilter = Omit<CallFilter, "status"> & {
  readonly status?: CallStatus | readonly CallStatus[] | undefined;
};

function* selectCalls(filter: StoredFilter): Transaction<StoredCall[]> {
  const conditions: string[] = [];
  const parameters: SqlValue[] = [];
  for (const [name, column] of Object.entries(FILTERS) as [keyof typeof FILTERS, string][]) {
    const value = filter[name];
    if (value === undefined) continue;
    const values = typeof value === "string" ? [value] : value;
    const parameterNames = values.map((one) => `?${parameters.push(one)}`);
    conditions.push(`${column} IN (${parameterNames.join(", ")})`);
  }
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const limit = filter.limit === undefined ? "" : `LIMIT ?${parameters.push(filter.limit)}`;
  const rows = yield* all(
    `SELECT ${LOG.list()}, owner_id FROM _smithers_tool_calls ${where} ORDER BY started_at_ms, node_id, iteration, attempt, seq ${limit}`,
    ...parameters,
  );
  return rows.map((row) => {
    const call = LOG.parse(row);
    return { call, status: call.status, ownerId: readTextOrNull(row, "owner_id") };
  });
}
