/** Writes the rows of a call, for calls that begin and for calls that end without running. */
import { isUnrepeatable, runsInEachAttempt } from "../../definition/tool-spec.ts";
import { ToolwrightError } from "../../errors.ts";
import type { CallStart, NewCall } from "../../store/tables/calls.ts";
import { insertCall, insertStarted } from "../../store/tables/write-calls.ts";
import { savePayload } from "../../store/tables/payloads.ts";
import { finishRun, settleRun } from "../../store/tables/runs.ts";
import { readScope } from "../../store/tables/scopes.ts";
import type { Transaction } from "../../store/store.ts";
import { assertNotDeleted, runReverted } from "../../store/tables/tombstones.ts";
import { isPreview, truncateJson } from "../../util/truncate.ts";
import { type Call, takeSeq } from "../call.ts";
import { encodeError } from "../error-record.ts";
import { modelNameOf } from "../model-names.ts";
import type { Result } from "../outcome.ts";
import { Contended } from "../policy.ts";
import { staleAttempt } from "../scope.ts";

/** Columns that the caller sets; the rest comes from the call itself. */
export type RowFields = Omit<NewCall, keyof CommonFields | "note"> & {
  readonly approvalId?: string | null | undefined;
};

type CommonFields = Omit<CallStart, "startedAtMs" | "approvalId" | "ownerId" | "trace">;

/**
 * Inserts the row of this call and attempt.
 * @param isLast nothing follows in its transaction
 * @throws Contended if another process has inserted it, and the call must decide again
 */
export function* insertRow(call: Call, fields: RowFields, isLast = false): Transaction<void> {
  const { scope } = call;
  takeSeq(call);
  const { inputJson } = call;
  const { outputJson = null } = fields;
  const row = Object.assign(
    startOf(call, isShort(call, inputJson) ? inputJson : yield* logText(call, "input", inputJson)),
    fields,
    {
      outputJson: isShort(call, outputJson) ? outputJson : yield* logText(call, "output", outputJson),
      approvalId: fields.approvalId ?? call.approvalId,
      // A row without an intent has no owner, unless it is the outcome of a pure call.
      ownerId: fields.ownerId ?? null,
      copiedFrom: call.copiedFrom,
      note: call.note ?? null,
    },
  );
  const changes = yield* insertCall(row, scope.writer, isLast);
  if (changes === 0) yield* explainRefusal(call);
}

/** Inserts the row of a call that begins now. */
export function* insertIntent(call: Call): Transaction<void> {
  takeSeq(call);
  const { inputJson } = call;
  const shown = isShort(call, inputJson) ? inputJson : yield* logText(call, "input", inputJson);
  const { changes } = yield insertStarted(startOf(call, shown), call.scope.writer);
  if (changes === 0) yield* explainRefusal(call);
}

function startOf(call: Call, inputJson: string | null): CallStart {
  const { scope, spec } = call;
  return {
    scopeId: scope.id,
    seq: call.seq,
    key: call.key,
    idempotencyKey: call.idempotencyKey === call.key ? null : call.idempotencyKey,
    toolName: spec.name,
    unrepeatable: isUnrepeatable(spec),
    reruns: isUnrepeatable(spec) ? runsInEachAttempt(spec) : null,
    modelName: modelNameOf(call),
    originKey: call.originKey ?? null,
    toolCallId: call.toolCallId ?? null,
    inputJson,
    startedAtMs: call.startedAtMs,
    approvalId: call.approvalId,
    ownerId: call.host.ownerId,
    trace: call.span?.trace ?? null,
  };
}

/** Throws the reason why a row was not written: a lost run, a replaced attempt, or an equal call that was written first. */
export function* explainRefusal(call: Call): Transaction<never> {
  const { scope } = call;
  const { rootScopeId, epoch, attempt } = scope.writer;
  const row = yield* readScope(rootScopeId);
  if (row === undefined) yield* assertNotDeleted(scope.identity.runId);
  if (row?.isSealed === true) throw runReverted(scope.identity.runId);
  if (row === undefined || (epoch !== null && row.epoch !== epoch)) throw fenced(call);
  if (row.attempt !== attempt) throw staleAttempt(scope, row.attempt);
  throw new Contended();
}

export function fenced(call: Call): ToolwrightError {
  const { runId, nodeId } = call.scope.identity;
  return new ToolwrightError(
    "TOOL_RUN_FENCED",
    `Another process has taken over task "${nodeId}" of run "${runId}", so this one can no longer write to it.`,
    { details: { runId, nodeId }, effect: "none" },
  );
}

/** The text for the log. A text that is too long is replaced by a preview, and stored in full elsewhere. */
export function* logText(
  call: Call,
  part: "input" | "output",
  text: string | null,
): Transaction<string | null> {
  if (text === null) return null;
  const short = truncateJson(text, maxLogBytes(call));
  // Also short texts in later attempts: payloads are found by key alone, so an earlier attempt's must be replaced.
  if (short.truncated || isPreview(text) || call.scope.attempt > 1)
    yield* savePayload(call.key, call.scope.attempt, part, text);
  return short.text;
}

/** Whether the log holds the text as it is. Most texts are short, and need no transaction of their own. */
export function isShort(call: Call, text: string | null): boolean {
  return (
    text === null || (text.length * 3 <= maxLogBytes(call) && !isPreview(text) && call.scope.attempt === 1)
  );
}

function maxLogBytes(call: Call): number {
  return call.scope.root.settings.maxOutputBytes ?? call.host.settings.maxOutputBytes;
}

/** Whether the end of a call may end its run. "new": this process has just created the run. */
export type Settlement = "new" | "known" | undefined;

/**
 * The first bare call of a run in this process that ends also ends the run, and so does one that waited or was in doubt. All
 * others do not update the run's row, because calls that end at the same moment would wait for one another there: readers
 * look at calls in progress. If the call does not end, restore `opensRun`.
 */
export function takeSettlement({ scope, row }: Call): Settlement {
  if (scope.isOwned || scope.isDetached || scope.root !== scope) return undefined;
  const settlement = scope.opensRun;
  scope.opensRun = undefined;
  return settlement ?? (row === undefined ? undefined : "known");
}

export function settleRunOf(call: Call, result: Result, settlement: Settlement): Transaction<number> {
  const { scope, host } = call;
  const { runId } = scope.identity;
  const now = host.clock.now();
  const isOver = result.kind !== "pending" && result.kind !== "suspended";
  const errorJson = scope.kind === "tool" ? failureOf(call, result) : null;
  if (settlement === "new" && isOver && errorJson === null && scope.waiting.size === 0)
    return finishRun(runId, host.ownerId, now);
  return settleRun(runId, errorJson, now);
}

/** The run of a single tool call ends as the call does. */
function failureOf(call: Call, result: Result): string | null {
  if (result.kind === "error" || result.kind === "interrupted") return encodeError(result.error, call);
  if (result.kind !== "denied") return null;
  const message = `The call of "${call.spec.name}" was denied.`;
  return encodeError(new ToolwrightError("TOOL_APPROVAL_DENIED", message, { effect: "none" }), call);
}
