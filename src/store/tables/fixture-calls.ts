/** The calls of a run as a fixture stores them: without inner calls and without reverts. */
import { APPROVAL_KINDS } from "./approvals.ts";
import { CALLS } from "./calls.ts";
import { readOneOf, readText, readTextOrNull } from "./columns.ts";
import { all, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { REVERT_PATH } from "./scopes.ts";
import type { RowOf } from "./table.ts";

const COLUMNS = CALLS.omit("inputJson", "outputJson");

export interface FixtureCallRow extends RowOf<(typeof COLUMNS)["map"]> {
  readonly nodeId: string;
  readonly path: string;
  /** In full. */
  readonly inputJson: string | null;
  readonly outputJson: string | null;
  readonly approvalKind: (typeof APPROVAL_KINDS)[number] | null;
  readonly comment: string | null;
}

const payload = (part: string): string =>
  `(SELECT p.body FROM toolwright_payloads p WHERE p.key = c.key AND p.attempt = c.attempt AND p.part = '${part}')`;

const READ = `SELECT ${COLUMNS.list("c")}, s.node_id, s.path, COALESCE(${payload("input")}, c.input_json) AS input_json,
  COALESCE(${payload("output")}, c.output_json) AS output_json, a.kind AS approval_kind, a.comment AS approval_comment
FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id LEFT JOIN toolwright_approvals a ON a.id = c.approval_id
WHERE s.run_id = ?1 AND s.parent_key = '' AND s.path <> '${REVERT_PATH}' ORDER BY s.id, c.attempt, c.seq`;

export function* readFixtureCalls(runId: string): Transaction<FixtureCallRow[]> {
  return (yield* all(READ, runId)).map(toCall);
}

function toCall(row: Row): FixtureCallRow {
  return {
    ...COLUMNS.parse(row),
    nodeId: readText(row, "node_id"),
    path: readText(row, "path"),
    inputJson: readTextOrNull(row, "input_json"),
    outputJson: readTextOrNull(row, "output_json"),
    approvalKind: row["approval_kind"] === null ? null : readOneOf(row, "approval_kind", APPROVAL_KINDS),
    comment: readTextOrNull(row, "approval_comment"),
  };
}
