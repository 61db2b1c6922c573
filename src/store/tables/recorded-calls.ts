/**
 * Rows of calls together with their whole outputs. A row and its payload are deleted together, so they are read together,
 * in one statement: of two reads, the second could find only the preview that the log shows.
 */
import { ToolwrightError } from "../../errors.ts";
import { encode } from "../../util/encode.ts";
import { isPreview } from "../../util/truncate.ts";
import { type CallRow, toCallRow } from "./calls.ts";
import { toHeldClaim, type HeldClaim } from "./claims.ts";
import { textOrNull } from "./columns.ts";
import { all, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";

export interface RecordedCall extends CallRow {
  /** The output in full, where the log may show a preview of it. */
  readonly payloadJson: string | null;
}

const WITH_PAYLOAD = `toolwright_calls c LEFT JOIN toolwright_payloads p
  ON p.key = c.key AND p.attempt = c.attempt AND p.part = 'output'`;

/** The row of the latest attempt. */
export function* latestCall(scopeId: number, key: string): Transaction<RecordedCall | undefined> {
  const row = yield* first(
    `SELECT c.*, p.body AS payload_json FROM ${WITH_PAYLOAD}
     WHERE c.scope_id = ?1 AND c.key = ?2 ORDER BY c.attempt DESC LIMIT 1`,
    scopeId,
    key,
  );
  return row === undefined ? undefined : toRecordedCall(row);
}

/** All rows of a key in any scope, the latest attempt first. It scans every call: for questions of people only. */
export function* recordedAnywhere(key: string): Transaction<RecordedCall[]> {
  const rows = yield* all(
    `SELECT c.*, p.body AS payload_json FROM ${WITH_PAYLOAD} WHERE c.key = ?1 ORDER BY c.attempt DESC`,
    key,
  );
  return rows.map(toRecordedCall);
}

/** The claim of a business key, with the call that holds it. A call that waited may have moved to a later attempt. */
export function* readClaimedCall(
  idempotencyKey: string,
): Transaction<{ readonly held: HeldClaim; readonly call: RecordedCall | undefined } | undefined> {
  const rows = yield* all(
    `SELECT c.*, p.body AS payload_json, k.idempotency_key AS claim_key, k.tool_name AS claim_tool,
       k.args_hash AS claim_hash, k.scope_id AS claim_scope, k.call_key AS claim_call, k.attempt AS claim_attempt,
       k.deleted_at_ms AS claim_deleted, k.happened AS claim_happened
     FROM toolwright_claims k LEFT JOIN toolwright_calls c ON c.scope_id = k.scope_id AND c.key = k.call_key
       LEFT JOIN toolwright_payloads p ON p.key = c.key AND p.attempt = c.attempt AND p.part = 'output'
     WHERE k.idempotency_key = ?1 ORDER BY c.attempt DESC`,
    idempotencyKey,
  );
  const [latest] = rows;
  if (latest === undefined) return undefined;
  const held = toHeldClaim(latest);
  const row = rows.find((other) => other["attempt"] === held.attempt) ?? latest;
  return { held, call: row["key"] === null ? undefined : toRecordedCall(row) };
}

/** The whole output, encoded. @throws TOOL_RESULT_DELETED when only its preview is left */
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
  return { ...toCallRow(row), payloadJson: textOrNull(row, "payload_json") };
}
