/**
 * The outermost stage. It asks the record first, so that nothing is run that has been run; and it sees every exit, so
 * that nothing is reported that is not on record. If an outcome cannot be committed, nobody is told that the call ended.
 */
import { ToolwrightError } from "../../errors.ts";
import { closeCall, finishCall, recordLate } from "../../store/calls.ts";
import type { Transaction } from "../../store/store.ts";
import { decode, encode } from "../../util/encode.ts";
import { type Call, tell, resetCall, watchesKey } from "../call.ts";
import { encodeError } from "../error-record.ts";
import { commitLevel } from "../host.ts";
import type { Result } from "../outcome.ts";
import { Contended, type Policy } from "../policy.ts";
import { decide } from "../recovery/decide.ts";
import { matchEditedArguments } from "../recovery/match-edited.ts";
import { replayNote } from "../recovery/replay-note.ts";
import { maskOutput } from "../redact.ts";
import { fenced, insertRow, logText } from "../rows.ts";
import { effectOfFailure } from "./retry.ts";

export const journal: Policy = async (call, next) => {
  await matchEditedArguments(call);
  for (let looked = false; ; looked = true) {
    try {
      const decision = await decide(call, { fresh: !looked && !call.scope.mayBeRecorded(call.key) });
      const result = decision ?? (await next());
      return call.begun
        ? await finish(call, result)
        : await recordUnbegun(call, result, decision !== undefined);
    } catch (error) {
      // Another process was faster with this very call: what it wrote decides.
      if (!(error instanceof Contended)) throw error;
      resetCall(call);
    }
  }
};

/** The outcome of a call that was run. */
async function finish(call: Call, result: Result): Promise<Result> {
  const { host, scope } = call;
  const end = endOf(call, result);
  const at = { scopeId: scope.id, attempt: scope.attempt, seq: call.seq, ownerId: host.ownerId };
  const isOurs = await host.store.transaction(
    function* () {
      const outputJson = yield* logText(call, "output", end.outputJson);
      const changes = yield* finishCall(at, { ...end, outputJson });
      if (changes === 0) {
        yield* recordLate({ key: call.key, attempt: scope.attempt }, lateOf(call, result));
        return false;
      }
      if (end.lateJson !== null) {
        yield* recordLate(
          { key: call.key, attempt: scope.attempt },
          { effect: end.effect, json: end.lateJson },
        );
      }
      for (const settle of call.settlers.values()) yield* settle(result);
      return true;
    },
    commitLevel(host, false),
  );
  if (!isOurs) throw fenced(call);
  tell(call, {
    type: "call-finished",
    status: end.status,
    replayed: false,
    fromCache: false,
    errorCode: "error" in result ? result.error.code : undefined,
  });
  if (end.keyRead === false) noticeUnreadKey(call);
  return result;
}

/** Default parameters defeat the check at definition; this one sees what the tool really does. */
function noticeUnreadKey(call: Call): void {
  const { host, spec } = call;
  tell(call, { type: "key-unread" });
  if (!spec.takesKey || spec.reconcile !== undefined || spec.idempotencyKey !== undefined) return;
  host.warnOnce(
    `key-unread ${spec.name}`,
    `Tool "${spec.name}" is a non-idempotent side effect and ended without reading ctx.idempotencyKey. After a crash a person will be asked whether it happened. Pass the key to the service, or give the tool a reconcile function.`,
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
}

function endOf(call: Call, result: Result): End {
  const common = {
    outputJson: null,
    errorJson: null,
    lateJson: null,
    finishedAtMs: call.host.clock.now(),
    tries: call.tries,
    keyRead: watchesKey(call) && call.executed ? call.keyRead : null,
    isolation: call.isolation,
    waitsFor: null,
  };
  switch (result.kind) {
    case "success":
      return { ...common, status: "success", effect: "happened", outputJson: storedOutput(call) };
    case "pending":
      return { ...common, status: "pending", effect: null, keyRead: null, waitsFor: result.approval.id };
    case "cut":
      // Nobody can tell how far it got; but what was never entered has not happened.
      return {
        ...common,
        status: "unknown",
        effect: call.executed ? null : "none",
        errorJson: encodeError(result.error, call.spec, call.args),
        keyRead: null,
      };
    case "error": {
      const effect = effectOfFailure(call, result);
      return {
        ...common,
        status: "error",
        effect,
        errorJson: encodeError(result.error, call.spec, call.args),
        // An output that failed validation is the only trace of an effect that happened.
        lateJson: effect === "happened" && call.outputJson !== undefined ? storedOutput(call) : null,
      };
    }
    default:
      throw new Error(`a call that was begun cannot end as "${result.kind}"`);
  }
}

function storedOutput(call: Call): string {
  const text = call.outputJson ?? encode(undefined);
  if (call.spec.redactOutput.length === 0) return text;
  return encode(maskOutput(call.spec, decode(text), call.host.store.secret));
}

function lateOf(call: Call, result: Result): { effect: "none" | "happened" | null; json: string } {
  if (result.kind === "success") return { effect: "happened", json: storedOutput(call) };
  const error = result.kind === "error" || result.kind === "cut" ? result.error : fenced(call);
  return { effect: null, json: encodeError(error, call.spec, call.args) };
}

/** A call that answered without being run: refused, denied, cached, or found on record. */
async function recordUnbegun(call: Call, result: Result, isDecided: boolean): Promise<Result> {
  if (call.mode === "ask" || result.kind === "cut" || result.kind === "pending" || result.kind === "clear")
    return result;
  if (isDecided && isReplay(result)) {
    emitAnswer(call, result);
    return result;
  }
  // Its attempt may not write any more, not even that it was refused.
  if (result.kind === "error" && result.error.code === "TOOL_ATTEMPT_STALE") return result;
  const isOpen = result.kind === "error" && result.error.code === "TOOL_OUTCOME_UNKNOWN";
  // An interrupted call stays interrupted until somebody knows better; being told so does not end it.
  if (!(isOpen && call.row !== undefined)) {
    await call.host.store.transaction(() => writeAnswer(call, result), commitLevel(call.host, false));
  }
  if (result.kind === "recorded" && result.attempt !== call.scope.attempt)
    call.note = replayNote(call, result.attempt);
  emitAnswer(call, result);
  return result.kind === "recorded"
    ? { kind: "success", output: decode(result.outputJson), replayed: true }
    : result;
}

function* writeAnswer(call: Call, result: Result): Transaction<void> {
  const now = call.host.clock.now();
  const fields = answerFields(call, result);
  const { row } = call;
  if (row === undefined) {
    yield* insertRow(call, { ...fields, startedAtMs: now, finishedAtMs: now });
    return;
  }
  const changes = yield* closeCall(row, {
    status: fields.status,
    effect: fields.effect,
    outputJson: yield* logText(call, "output", fields.outputJson ?? null),
    errorJson: fields.errorJson ?? null,
    finishedAtMs: now,
    approvalId: fields.approvalId ?? null,
  });
  if (changes === 0) throw new Contended();
}

function answerFields(call: Call, result: Result) {
  switch (result.kind) {
    case "success":
      return {
        status: "success",
        effect: "none",
        outputJson: encode(maskOutput(call.spec, result.output, call.host.store.secret)),
        fromCache: result.fromCache ?? false,
      } as const;
    case "recorded":
      return {
        status: "success",
        effect: "happened",
        outputJson: result.outputJson,
        replayedFrom: result.attempt,
      } as const;
    case "error":
      return {
        status: result.error.code === "TOOL_OUTCOME_UNKNOWN" ? "unknown" : "error",
        effect: result.error.effect ?? (result.error.code === "TOOL_OUTCOME_UNKNOWN" ? null : "none"),
        errorJson: encodeError(result.error, call.spec, call.args),
      } as const;
    case "denied":
      return { status: "denied", effect: null, approvalId: result.approval.id } as const;
    default:
      throw new ToolwrightError("TOOL_EXECUTION_FAILED", `a call cannot be recorded as "${result.kind}"`);
  }
}

function isReplay(result: Result): boolean {
  return "replayed" in result && (result.replayed ?? false);
}

function emitAnswer(call: Call, result: Result): void {
  const status = result.kind === "error" || result.kind === "denied" ? result.kind : "success";
  tell(call, {
    type: "call-finished",
    status,
    replayed: result.kind === "recorded" || isReplay(result),
    fromCache: result.kind === "success" && result.fromCache === true,
    errorCode: result.kind === "error" ? result.error.code : undefined,
  });
}
