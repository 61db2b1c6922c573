/**
 * Decides by the log whether a call runs or returns a stored outcome: the table of docs/internals/durability.md, row by row.
 * Returns `undefined` if the call runs; `call.row` is then the row that it continues, if there is one.
 */
import { ToolwrightError } from "../../errors.ts";
import { approvalOfCall, type ApprovalRow, readApproval, voidPending } from "../../store/tables/approvals.ts";
import { callsByKey, type CallRow } from "../../store/tables/calls.ts";
import { moveToAttempt } from "../../store/tables/write-calls.ts";
import { latestCall, type RecordedCall, wholeOutput } from "../../store/tables/recorded-calls.ts";
import { decode } from "../../util/encode.ts";
import type { Call } from "../call.ts";
import { decodeError } from "../error-record.ts";
import type { Result } from "../outcome.ts";
import { Contended } from "../policy.ts";
import { staleAttempt } from "../scope.ts";
import { fingerprintOf } from "../approvals/contract.ts";
import { settleByMessage } from "../approvals/settle-by-message.ts";
import { explainRefusal } from "./rows.ts";
import { requestApproval } from "../approvals/request.ts";
import { prepareInput } from "../policies/validate.ts";
import { isUnrepeatable, runsInEachAttempt } from "../../definition/tool-spec.ts";
import { addNote, editNote, isEdited } from "../call-notes.ts";
import { decideByParent } from "./decide-by-parent.ts";
import { lateResult, lateSuccessIn, provedNoEffect } from "./late-result.ts";
import { earlierSpan } from "../trace-work.ts";
import { runOnResolution } from "./replay-approval.ts";
import { resolveUnknown } from "./resolve-unknown.ts";
import { assertSettled, waitForOwner } from "./wait-for-owner.ts";

export async function decide(call: Call): Promise<Result | undefined> {
  for (;;) {
    const row = await call.host.store.read(() => latestCall(call.scope.id, call.key));
    if (row === undefined) return decideByParent(call);
    call.originKey = row.originKey ?? call.originKey;
    if (row.attempt > call.scope.attempt)
      return { kind: "error", error: staleAttempt(call.scope, row.attempt) };
    if (row.status === "started") {
      await waitForOwner(call, row);
      continue;
    }
    try {
      const isSame = row.attempt === call.scope.attempt;
      call.earlier = earlierSpan(row, call.scope.attempt);
      call.recordedKey = row.idempotencyKey;
      const answer = await (isSame ? sameAttempt(call, row) : earlierAttempt(call, row));
      const hasEnded = row.status === "success" || row.status === "error";
      if (hasEnded && answer !== undefined && call.isMadeByLoop && row.waitsFor !== null) {
        call.hostLoop?.onReplay?.(row.waitsFor);
      }
      return answer;
    } catch (error) {
      // The call succeeded, but its output was deleted: it returns that error and does not run again.
      if (ToolwrightError.is(error) && error.code === "TOOL_RESULT_DELETED")
        return { kind: "error", error, replayed: true };
      throw error;
    }
  }
}

/** A resume: finished calls of every tool are never run again. */
async function sameAttempt(call: Call, row: RecordedCall): Promise<Result | undefined> {
  call.note = row.note ?? undefined;
  switch (row.status) {
    case "success":
      return {
        kind: "success",
        output: decode(wholeOutput(row)),
        fromCache: row.fromCache,
        replayed: true,
      };
    case "error":
      if (call.scope.wasTried(call.key)) return failedInEarlierTry(call, row);
      noteRecordedError(call, row);
      return { kind: "error", error: errorOf(row), replayed: true };
    case "denied":
      return { kind: "denied", approval: await approvalOf(call, row), replayed: true };
    case "pending":
      return resumePending(call, row);
    case "unknown":
      return interrupted(call, row);
    case "started":
      throw new Contended();
  }
}

/**
 * After a fix of the tool, a rerun of the program still returns the stored error of the old code, so this warns. The error
 * itself stays the same: a resumed model must read what it read before.
 */
function noteRecordedError({ host, scope, spec, isReadByModel }: Call, row: CallRow): void {
  if (isReadByModel || row.ownerId === host.ownerId) return;
  const { runId } = scope.identity;
  host.warnOnce(
    `recorded error ${runId}`,
    `"${spec.name}" failed in an earlier process of run "${runId}"; the stored error is returned, and nothing was run. ` +
      `To run it again, for example after a fix of the code, use another runId, or attempt: ${row.attempt + 1}.`,
  );
}

/** A retry: an effect is never repeated silently. */
async function earlierAttempt(call: Call, row: RecordedCall): Promise<Result | undefined> {
  const { spec } = call;
  switch (row.status) {
    case "success":
      await noteEdits(call, row);
      return happenedBefore(call, row, wholeOutput(row));
    case "error":
      if (row.effect === "none" || !isUnrepeatable(spec)) {
        await restoreApproval(call, row);
        return undefined;
      }
      if (!runsInEachAttempt(spec)) return interrupted(call, row);
      // The tool runs again after a success, and so after an error too, but never alongside an interrupted try.
      await assertSettled(call, row);
      await restoreApproval(call, row);
      return undefined;
    case "denied":
      return { kind: "denied", approval: await approvalOf(call, row) };
    case "pending":
      return resumePending(call, await moveRow(call, row));
    case "unknown":
      return interrupted(call, row);
    case "started":
      throw new Contended();
  }
}

/** The enclosing call is retried: its failed inner calls are retried with it, if that is safe. */
async function failedInEarlierTry(call: Call, row: CallRow): Promise<Result | undefined> {
  call.row = row;
  call.mayHaveHappened = row.effect !== "none";
  const { spec } = call;
  const isSafe = row.effect === "none" || !isUnrepeatable(spec) || runsInEachAttempt(spec);
  // A late success is the outcome of the call, for every tool.
  if (!isSafe || row.effect === "happened") return interrupted(call, row);
  await restoreApproval(call, row);
  return undefined;
}

/**
 * The call failed and runs again. Its approval still counts if a refusal left it unused, or if the effect is in doubt: the
 * rerun then completes the approved call. After an error that proves "no effect", the approved call is over.
 */
async function restoreApproval(call: Call, row: CallRow): Promise<void> {
  if (row.approvalId === null) return;
  const approval = await readDecision(call, row.approvalId);
  // The approver saw another version of the tool.
  if (approval?.fingerprint !== fingerprintOf(call.spec)) return;
  if (row.effect !== "none") return restoreSpentApproval(call, row);
  const isUnspent =
    approval.kind === "call" && approval.status === "approved" && approval.redeemedAtMs === null;
  if (isUnspent) runOn(call, approval);
}

/** The call runs on this approval, with its arguments. */
function runOn(call: Call, approval: ApprovalRow): void {
  call.approval = approval;
  call.approvalId = approval.id;
  call.editedArgsJson = approval.approvedArgsJson;
}

function happenedBefore(call: Call, row: CallRow, outputJson: string): Result | undefined {
  if (runsInEachAttempt(call.spec)) {
    call.note = undefined;
    return undefined;
  }
  return { kind: "recorded", outputJson, attempt: row.replayedFrom ?? row.attempt };
}

/** The process died, the run was aborted, or an error left the effect in doubt. */
async function interrupted(call: Call, row: CallRow): Promise<Result | undefined> {
  if (row.attempt === call.scope.attempt) call.row = row;
  await restoreSpentApproval(call, row);
  if (row.effect === "none") return undefined;
  call.mayHaveHappened = true;
  if (row.effect !== null) return happened(call, row);
  // An earlier attempt may have succeeded after this attempt found the outcome unknown, or was refused.
  const rows = await call.host.store.read(() => callsByKey(row.scopeId, row.key));
  const done = lateSuccessIn(rows, row);
  if (done !== undefined) return fromLateResult(call, done, done.lateJson);
  if (!provedNoEffect(rows, row)) return resolveUnknown(call, row);
  call.mayHaveHappened = false;
  return undefined;
}

async function happened(call: Call, row: CallRow): Promise<Result | undefined> {
  if (row.lateJson !== null) return fromLateResult(call, row, row.lateJson);
  // The output could not be stored, but the call must not run again.
  return { kind: "error", error: errorOf(row) };
}

/** The call was approved, so it runs again with the approved arguments. */
async function restoreSpentApproval(call: Call, row: CallRow): Promise<void> {
  if (row.approvalId === null) return;
  const approval = await readDecision(call, row.approvalId);
  // A request without a decision, such as an expired one, approves nothing.
  if (approval?.status !== "approved") return;
  call.approvedBefore = true;
  call.approvalId = row.approvalId;
  call.editedArgsJson = approval.approvedArgsJson;
  // Even if it does not run again, because its effect happened.
  if (isEdited(call)) addNote(call, editNote(row.inputJson));
}

/**
 * The arguments of an earlier attempt may have been edited, so the result may not match the arguments that the model
 * sends now.
 */
async function noteEdits(call: Call, row: CallRow): Promise<void> {
  if (row.approvalId === null) return;
  const decision = await readDecision(call, row.approvalId);
  if ((decision?.approvedArgsJson ?? null) !== null) addNote(call, editNote(row.inputJson));
}

async function fromLateResult(call: Call, row: CallRow, lateJson: string): Promise<Result | undefined> {
  const result = await lateResult(call, row.attempt, lateJson);
  if (result.kind !== "recorded" || row.attempt === call.scope.attempt) return result;
  return happenedBefore(call, row, result.outputJson);
}

/** A call that waits for approval stays the same call, however often it is made. */
async function resumePending(call: Call, row: CallRow): Promise<Result | undefined> {
  call.row = row;
  if (row.effect === "happened") return happenedWhileWaiting(call, row);
  if (row.waitsFor !== null) {
    call.mayHaveHappened = true;
    await restoreSpentApproval(call, row);
    const inner = await readDecision(call, row.waitsFor);
    if (inner?.kind === "replay" && inner.callKey === call.key) {
      return resumeQuestion(call, row, inner);
    }
    call.approvedBefore = true;
    call.isReentry = true;
    // The enclosing call is entered again once the inner one is decided. Its inner calls are logged.
    return inner?.status === "pending" ? { kind: "pending", approval: inner } : undefined;
  }
  const approval = await settleByMessage(call, await approvalOf(call, row));
  switch (approval.status) {
    case "pending":
      return { kind: "pending", approval };
    case "approved":
      // The approver saw another version of the tool, so the call needs a new approval.
      if (approval.fingerprint !== fingerprintOf(call.spec)) return requestAgain(call, approval);
      if (approval.redeemedAtMs === null) runOn(call, approval);
      else await restoreSpentApproval(call, row);
      return undefined;
    case "denied":
      return { kind: "denied", approval };
    case "expired":
      return { kind: "error", error: expired(call, approval) };
    case "void":
      // Void without a decision: the run was cancelled, or the task ended. Request again, without asking needsApproval.
      return requestAgain(call, approval);
  }
}

/** The call waits for an answer about an interrupted try, which may have ended in the meantime. */
async function resumeQuestion(call: Call, row: CallRow, question: ApprovalRow): Promise<Result | undefined> {
  const { store } = call.host;
  const rows = await store.read(() => callsByKey(row.scopeId, row.key));
  const done = lateSuccessIn(rows, row);
  const isHarmless = done === undefined && provedNoEffect(rows, row);
  // An answer binds the call even if the try proves that it had no effect. Without an answer, such a call runs again.
  const { status, outputJson } = question;
  const isOver = status === "denied" || (status === "approved" && outputJson !== null);
  if (done === undefined && (!isHarmless || isOver)) return resolveUnknown(call, row);
  await store.transaction(() => voidPending(question.id), "normal");
  if (done !== undefined) return fromLateResult(call, done, done.lateJson);
  call.mayHaveHappened = false;
  if (status === "approved" && question.redeemedAtMs === null) runOnResolution(call, question);
  return undefined;
}

/** An interrupted try has succeeded in the meantime: its result counts, so nothing is left to decide or to run. */
async function happenedWhileWaiting(call: Call, row: CallRow): Promise<Result | undefined> {
  const { store, clock } = call.host;
  const request = await store.read(() => approvalOfCall(call.key, clock.now()));
  if (request?.status === "pending") await store.transaction(() => voidPending(request.id), "normal");
  return interrupted(call, row);
}

async function requestAgain(call: Call, approval: ApprovalRow): Promise<Result> {
  await prepareInput(call);
  return { kind: "pending", approval: await requestApproval(call, "call", approval) };
}

function expired(call: Call, approval: ApprovalRow): ToolwrightError {
  return new ToolwrightError(
    "TOOL_APPROVAL_EXPIRED",
    `The approval request ${approval.id} for "${call.spec.name}" expired without a decision.`,
    { details: { tool: call.spec.name, approvalId: approval.id }, effect: "none" },
  );
}

async function moveRow(call: Call, row: CallRow): Promise<CallRow> {
  const { scope } = call;
  const seq = scope.nextSeq();
  await call.host.store.transaction(function* () {
    const changes = yield* moveToAttempt(row, seq, scope.writer);
    if (changes === 0) yield* explainRefusal(call);
  }, "normal");
  return { ...row, attempt: scope.attempt, seq };
}

async function approvalOf(call: Call, row: CallRow): Promise<ApprovalRow> {
  const approval =
    (row.approvalId === null ? undefined : await readDecision(call, row.approvalId)) ??
    (await call.host.store.read(() => approvalOfCall(call.key, call.host.clock.now())));
  if (approval !== undefined) return approval;
  throw new ToolwrightError(
    "TOOL_STORE_DAMAGED",
    `The call ${row.key} waits for approval, but the store has no request for it.`,
  );
}

function readDecision(call: Call, id: string): Promise<ApprovalRow | undefined> {
  return call.host.store.read(() => readApproval(id, call.host.clock.now()));
}

function errorOf(row: CallRow): ToolwrightError {
  return decodeError(
    row.errorJson ?? '{"code":"TOOL_EXECUTION_FAILED","message":"unknown error: it was not stored"}',
  );
}
