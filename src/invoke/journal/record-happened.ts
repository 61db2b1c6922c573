/** Stores that an interrupted call happened, with its output. */
import { KEY_VERSION } from "../../definition/call-key.ts";
import { type ApprovalRow, voidPending } from "../../store/tables/approvals.ts";
import { callsByKey, type CallRow } from "../../store/tables/calls.ts";
import { takeClaim } from "../../store/tables/claims.ts";
import { readClaimedCall } from "../../store/tables/recorded-calls.ts";
import { savePayload } from "../../store/tables/payloads.ts";
import type { Transaction } from "../../store/store.ts";
import { closeCall } from "../../store/tables/write-calls.ts";
import { decode, encode } from "../../util/encode.ts";
import { truncateJson } from "../../util/truncate.ts";
import type { Call } from "../call.ts";
import { executedHash } from "../call-identity.ts";
import type { Result } from "../outcome.ts";
import { explainRefusal } from "./rows.ts";
import { storableOutput } from "../storable.ts";

/** @param question the replay request, pending or resolved */
export async function recordHappened(
  call: Call,
  row: CallRow,
  clearJson: string,
  question: ApprovalRow | undefined,
): Promise<Result> {
  const { host, scope, spec } = call;
  const outputJson =
    spec.redactOutput.length + spec.redactInput.length === 0
      ? clearJson
      : encode(storableOutput(spec, call.args, decode(clearJson), host.store.secret));
  const isOwn = row.key === call.key && row.attempt === scope.attempt;
  await host.store.transaction(function* () {
    const short = truncateJson(outputJson, host.settings.maxOutputBytes);
    if (short.truncated) yield* savePayload(row.key, row.attempt, "output", outputJson);
    const changes = yield* closeCall(
      row,
      {
        status: "success",
        effect: "happened",
        outputJson: short.text,
        errorJson: null,
        finishedAtMs: host.clock.now(),
        approvalId: question?.status === "approved" ? question.id : null,
        note: isOwn ? (call.note ?? null) : null,
      },
      scope.writer,
    );
    if (changes === 0) yield* explainRefusal(call);
    if (question?.status === "pending") yield* voidPending(question.id);
    if (isOwn) yield* holdBusinessKey(call, row);
  }, "normal");
  return isOwn
    ? { kind: "success", output: decode(outputJson), replayed: true }
    : { kind: "recorded", outputJson, attempt: row.attempt };
}

/** The result must be found by every call with the same business key, so the claim moves to this call. */
function* holdBusinessKey(call: Call, row: CallRow): Transaction<void> {
  if (call.spec.idempotencyKey === undefined && row.idempotencyKey === null) return;
  // A later attempt that only asked has not derived its key.
  const rows = row.idempotencyKey === null ? yield* callsByKey(row.scopeId, row.key) : [row];
  const idempotencyKey = rows.find((one) => one.idempotencyKey !== null)?.idempotencyKey ?? null;
  if (idempotencyKey === null) return;
  const held = (yield* readClaimedCall(idempotencyKey))?.held;
  if (held === undefined || held.deleted !== undefined) return;
  if (held.callKey === row.key && held.attempt === row.attempt) return;
  yield* takeClaim(
    {
      idempotencyKey,
      toolName: call.spec.name,
      argsHash: held.callKey === row.key ? held.argsHash : executedHash(call, KEY_VERSION),
      scopeId: row.scopeId,
      callKey: row.key,
      attempt: row.attempt,
    },
    held,
  );
}
