/**
 * Rows of calls with their full outputs. Retention deletes a row and its payload together, so one statement reads both: the
 * second of two reads could find only the preview in the log.
 */
import { ToolwrightError } from "../../errors.ts";
import { encode } from "../../util/encode.ts";
import { isPreview } from "../../util/truncate.ts";
import { type CallRow, CALLS } from "./calls.ts";
import { CLAIM_LIST, toHeldClaim, type HeldClaim } from "./claims.ts";
import { readTextOrNull } from "./columns.ts";
import { all, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";

export interface RecordedCall extends CallRow {
  /** The output in full, where the log may show a preview of it. */
  readonly payloadJson: string | null;
}

const COLUMNS = `${CALLS.list("c")}, p.body AS payload_json`;
const PAYLOAD =
  "LEFT JOIN toolwright_payloads p ON p.key = c.key AND p.attempt = c.attempt AND p.part = 'output'";

const LATEST = `SELECT ${COLUMNS} FROM toolwright_calls c ${PAYLOAD}
WHERE c.scope_id = ?1 AND c.key = ?2 ORDER BY c.attempt DESC LIMIT 1`;

const ANYWHERE = `SELECT ${COLUMNS} FROM toolwright_calls c ${PAYLOAD} WHERE c.key = ?1 ORDER BY c.attempt DESC`;

const CLAIMED = `SELECT ${COLUMNS}, ${CLAIM_LIST}
FROM toolwright_claims k LEFT JOIN toolwright_calls c ON c.scope_id = k.scope_id AND c.key = k.call_key ${PAYLOAD}
WHERE k.idempotency_key = ?1 ORDER BY c.attempt DESC`;

/** The row of the latest attempt. */
export function* latestCall(scopeId: number, key: string): Transaction<RecordedCall | undefined> {
  const row = yield* first(LATEST, scopeId, key);
  return row === undefined ? undefined : toRecordedCall(row);
}

/** All rows of a key in any scope, the latest attempt first. It scans every call, so only queries of users use it. */
export function* recordedAnywhere(key: string): Transaction<RecordedCall[]> {
  return (yield* all(ANYWHERE, key)).map(toRecordedCall);
}

/** The claim of a business key, with the call that holds it. A pending call may have moved to a later attempt. */
export function* readClaimedCall(
  idempotencyKey: string,
): Transaction<{ readonly held: HeldClaim; readonly call: RecordedCall | undefined } | undefined> {
  const rows = yield* all(CLAIMED, idempotencyKey);
  const [latest] = rows;
  if (latest === undefined) return undefined;
  const held = toHeldClaim(latest);
  const row = rows.find((other) => other["attempt"] === held.attempt) ?? latest;
  return { held, call: row["key"] === null ? undefined : toRecordedCall(row) };
}

/** The full output, encoded. @throws TOOL_RESULT_DELETED when only its preview is left */
export function wholeOutput(call: RecordedCall): string {
  const { payloadJson, outputJson } = call;
  if (payloadJson !== null) return payloadJson;
  if (outputJson === null) return encode(undefined);
  if (!isPreview(outputJson)) return outputJson;
  throw new ToolwrightError(
    "TOOL_RESULT_DELETED",
    `Tool "${call.toolName}": the call ${call.key} succeeded, but its output is no longer in the store; the log has a preview of it.`,
    { details: { tool: call.toolName, key: call.key }, effect: "none" },
  );
}

function toRecordedCall(row: Row): RecordedCall {
  return { ...CALLS.parse(row), payloadJson: readTextOrNull(row, "payload_json") };
}
