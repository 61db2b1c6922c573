/** Stores the outcome of a call that ran: its row and all settlers, in one transaction. */
import { mayPassKeyOn } from "../../definition/tool-spec.ts";
import { forgetResponses } from "../../store/tables/responses.ts";
import { finishCall, recordLate } from "../../store/tables/write-calls.ts";
import type { Transaction } from "../../store/store.ts";
import { releaseReservationsOf } from "../../store/tables/usage.ts";
import { decode, encode } from "../../util/encode.ts";
import { callsByKey } from "../../store/tables/calls.ts";
import { type Call, inFlightName, emit, watchesKey } from "../call.ts";
import { encodeError } from "../error-record.ts";
import { commitCall, commitLevel } from "../host.ts";
import type { Result } from "../outcome.ts";
import { storableOutput } from "../storable.ts";
import { leaveInterrupted } from "./abandon.ts";
import { effectOf } from "./effect.ts";
import { fenced, insertRow, isShort, logText, type Settlement, settleRunOf, takeSettlement } from "./rows.ts";

/** `waitsFor` of a suspended call: it waits until the enclosing loop makes it again, not for an approval. */
const LOOP = "loop";

export async function recordOutcome(call: Call, result: Result): Promise<Result> {
  // An inner call could not be stored, so this one has not ended either.
  if (call.failure !== undefined) {
    leaveInterrupted(call);
    throw call.failure;
  }
  const { host, innerScope } = call;
  // The commit deletes the stream parts of agents inside the call.
  if (innerScope?.asksModel === true) await host.streams.beforeDeletion(innerScope.identity.runId);
  const end = endOf(call, result);
  const level = commitLevel(host, false);
  const { opensRun } = call.scope;
  const settlement = takeSettlement(call);
  const write = (): Transaction<boolean> => writeEnd(call, end, result, settlement);
  let isCommitted = false;
  try {
    isCommitted = await commitCall(
      host,
      call.isDeferred ? () => insertEnd(call, end, result, settlement) : write,
      level,
    );
  } catch (error) {
    // A pure call has no intent row: if its row cannot be written, no other process waits for it.
    if (!call.isDeferred) {
      host.failedWrites.add(inFlightName(call.key, call.scope.attempt), write);
    }
    throw error;
  } finally {
    if (!isCommitted) call.scope.opensRun ??= opensRun;
  }
  if (!isCommitted) throw fenced(call);
  if (result.kind === "suspended") call.scope.noteRecorded(call.key);
  emit(call, {
    type: "call-finished",
    status: end.status,
    replayed: false,
    fromCache: false,
    errorCode: "error" in result ? result.error.code : undefined,
  });
  if (end.keyRead === false) noticeUnreadKey(call);
  return result;
}

function* writeEnd(call: Call, end: End, result: Result, settlement: Settlement): Transaction<boolean> {
  const { host, scope } = call;
  const at = { scopeId: scope.id, key: call.key, attempt: scope.attempt, ownerId: host.ownerId };
  const { outputJson } = end;
  const shown = isShort(call, outputJson)
    ? end
    : { ...end, outputJson: yield* logText(call, "output", outputJson) };
  const isSettling = hasSettlers(call, settlement);
  const { changes } = yield finishCall(at, shown, !isSettling && end.lateJson === null);
  if (changes === 0) {
    // An earlier commit may have succeeded although it reported an error. Otherwise another process has taken over.
    const [row] = yield* callsByKey(scope.id, call.key);
    const isCommitted = row?.status === end.status && row.finishedAtMs === end.finishedAtMs;
    if (isCommitted && row.ownerId === host.ownerId) return true;
    yield* recordLate(at, lateOf(call, result));
    yield* releaseReservationsOf(call.key, host.ownerId);
    return false;
  }
  if (end.lateJson !== null) yield* recordLate(at, { effect: end.effect, json: end.lateJson });
  if (isSettling) yield* settleAll(call, result, settlement);
  return true;
}

/** A pure call has no intent row: its row is inserted now. */
function* insertEnd(call: Call, end: End, result: Result, settlement: Settlement): Transaction<boolean> {
  const isSettling = hasSettlers(call, settlement);
  yield* insertRow(call, { ...end, startedAtMs: call.startedAtMs, ownerId: call.host.ownerId }, !isSettling);
  if (isSettling) yield* settleAll(call, result, settlement);
  return true;
}

function hasSettlers(call: Call, settlement: Settlement): boolean {
  return call.settlers !== undefined || call.innerScope !== undefined || settlement !== undefined;
}

function* settleAll(call: Call, result: Result, settlement: Settlement): Transaction<void> {
  if (call.settlers !== undefined) for (const settle of call.settlers.values()) yield* settle(result);
  if (settlement !== undefined) yield* settleRunOf(call, result, settlement);
  const hasEnded = result.kind === "success" || result.kind === "error";
  // Model responses of agents inside it are stored unredacted. This attempt does not enter the call again, so delete them.
  if (hasEnded && call.innerScope !== undefined) {
    yield* forgetResponses(call.innerScope.identity.runId, call.innerScope.id, call.scope.attempt);
  }
}

/** The check of the source at definition can be wrong, for example with default parameters. This one observes the call. */
function noticeUnreadKey(call: Call): void {
  const { host, spec } = call;
  emit(call, { type: "key-unread" });
  if (!mayPassKeyOn(spec) || spec.reconcile !== undefined || spec.idempotencyKey !== undefined) return;
  host.warnOnce(
    `key-unread ${spec.name}`,
    `tool "${spec.name}" is a non-idempotent side effect and ended without reading ctx.idempotencyKey. After a crash it waits for approval, since its effect is in doubt. Pass the key to the service, or define a reconcile function.`,
  );
}

interface End {
  readonly status: "success" | "error" | "pending" | "unknown";
  readonly effect: "none" | "happened" | null;
  readonly outputJson: string | null;
  readonly errorJson: string | null;
  readonly lateJson: string | null;
  readonly finishedAtMs: number;
  readonly tries: number;
  readonly keyRead: boolean | null;
  readonly isolation: string | null;
  readonly waitsFor: string | null;
  readonly note: string | null;
  readonly executing: true | null;
}

function endOf(call: Call, result: Result): End {
  const isAtWork = call.unsettledTries > 0 ? true : null;
  const common = {
    outputJson: null,
    errorJson: null,
    lateJson: null,
    finishedAtMs: call.host.clock.now(),
    tries: (call.row?.tries ?? 0) + call.tries,
    executing: null,
    keyRead: watchesKey(call) && call.executed ? call.keyRead : null,
    isolation: call.isolation,
    waitsFor: markOf(call, "ended"),
    note: call.note ?? null,
  };
  // A try that has not ended may still read its key, so only `true` is certain.
  const keyRead = common.keyRead === true ? true : null;
  switch (result.kind) {
    case "success":
      return { ...common, status: "success", effect: "happened", outputJson: storedOutput(call) };
    case "pending":
      return { ...common, status: "pending", effect: null, keyRead, waitsFor: result.approval.id };
    case "suspended":
      return {
        ...common,
        status: "pending",
        effect: null,
        keyRead,
        waitsFor: markOf(call, "suspended") ?? LOOP,
      };
    case "interrupted":
      return {
        ...common,
        status: "unknown",
        effect: effectOf(call, result),
        errorJson: encodeError(result.error, call),
        keyRead,
        executing: isAtWork,
      };
    case "error": {
      const effect = effectOf(call, result);
      return {
        ...common,
        status: "error",
        effect,
        errorJson: encodeError(result.error, call),
        executing: effect === null ? isAtWork : null,
        // A try that still runs may read it later.
        keyRead: isAtWork === true ? keyRead : common.keyRead,
        // An output that failed validation is the only trace of an effect that happened.
        lateJson: effect === "happened" && call.outputJson !== undefined ? storedOutput(call) : null,
      };
    }
    default:
      throw new Error(`a call that has begun cannot end as "${result.kind}"`);
  }
}

/** The mark of the loop that made the call, for its replay. */
function markOf({ isMadeByLoop, hostLoop }: Call, state: "ended" | "suspended"): string | null {
  return (isMadeByLoop ? hostLoop?.mark?.(state) : undefined) ?? null;
}

/** The output with `redact` applied. */
export function storedOutput(call: Call): string {
  const text = call.outputJson ?? encode(undefined);
  const { spec, args, host } = call;
  if (spec.redactOutput.length + spec.redactInput.length === 0) return text;
  return encode(storableOutput(spec, args, decode(text), host.store.secret));
}

function lateOf(call: Call, result: Result): { effect: "none" | "happened" | null; json: string } {
  if (result.kind === "success") return { effect: "happened", json: storedOutput(call) };
  const error = result.kind === "error" || result.kind === "interrupted" ? result.error : fenced(call);
  return { effect: null, json: encodeError(error, call) };
}
