/**
 * Commits the intent of a call. The intent, the redemption of its approval, its reservations, the claim of its business key
 * and the check of its owner are one transaction. If the process dies before it, the call has not run; a refusal before it
 * spends nothing.
 */
import { isUnrepeatable } from "../../definition/tool-spec.ts";
import { ToolwrightError } from "../../errors.ts";
import { isClaimed } from "../../store/tables/program-claims.ts";
import { bindRun } from "../../store/tables/runs.ts";
import { startAgain } from "../../store/tables/write-calls.ts";
import type { Transaction } from "../../store/store.ts";
import { addGuard, type Call, takeSeq, emit, inFlightName } from "../call.ts";
import { copyError } from "../error-record.ts";
import { commitCall, commitLevel } from "../host.ts";
import type { Result } from "../outcome.ts";
import { aborted, MustWait, type Policy, Refused, type Next } from "../policy.ts";
import { leaveUnrun } from "../journal/abandon.ts";
import { explainRefusal, fenced, insertIntent, logText } from "../journal/rows.ts";

export const begin: Policy = async (call, next) => {
  if (call.mode === "check") return { kind: "clear" };
  if (call.signal?.aborted === true) return aborted(call);
  const { host, spec } = call;
  const leave = host.claimed.size > 0 && call.caller === undefined ? await enterRun(call) : stay;
  if (leave === undefined) return aborted(call);
  if (spec.usesFiles && !host.isRootShared) await bindToHost(call);
  call.startedAtMs = host.clock.now();
  call.leaseGeneration = host.leaseGeneration();
  if (!spec.sideEffect && call.guards === undefined && call.row === undefined)
    return await beginPure(call, next);
  keepToClaim(call);
  const renewing = host.renewLease();
  if (renewing !== undefined) await renewing;
  if (!host.failedWrites.isEmpty)
    await host.failedWrites.supersede(inFlightName(call.key, call.scope.attempt));
  try {
    const isPlain = call.guards === undefined && call.row === undefined;
    const work = isPlain ? () => insertIntent(call) : () => beginCall(call);
    await commitCall(host, work, commitLevel(host, isUnrepeatable(spec)));
  } catch (error) {
    if (error instanceof Refused) return error.result;
    if (error instanceof MustWait) {
      // It is not in flight: a worker that drains does not wait for it.
      leave();
      throw error;
    }
    // The commit may have succeeded although it reported an error. Nothing was run.
    if (isStoreFailure(error)) leaveUnrun(call);
    throw withoutEffect(error);
  }
  call.begun = true;
  host.places.leave(call);
  emit(call, { type: "call-started", seq: call.seq });
  // `await`: to return a promise from an async function takes two more turns of the microtask queue.
  return await next(call);
};

const stay = (): void => undefined;

/** Files are on this host, so workers elsewhere must not take the run. Stored before the first of its tools touches one. */
async function bindToHost({ host, scope }: Call): Promise<void> {
  const { runId } = scope.root.identity;
  if (scope.root.isDetached || host.boundHere.has(runId)) return;
  await host.store.transaction(() => bindRun(runId, host.machine), "normal");
  host.boundHere.add(runId);
}

/** `undefined` once a worker has given the run back: the call begins elsewhere. Otherwise a function that ends the call's part. */
async function enterRun({ host, scope, cleanups }: Call): Promise<(() => void) | undefined> {
  const release = host.claimed.get(scope.root.identity.runId)?.release;
  if (release === undefined) return stay;
  if (release.isRequested) {
    await release.hold(scope.root);
    return undefined;
  }
  const leave = release.enter();
  let hasLeft = false;
  const leaveOnce = (): void => {
    if (!hasLeft) leave();
    hasLeft = true;
  };
  cleanups.push(leaveOnce);
  return leaveOnce;
}

/** A bare call has no epoch of its own. In a run that a worker has claimed, the claim must still hold. */
function keepToClaim(call: Call): void {
  const { host, scope, caller } = call;
  if (host.claimed.size === 0 || caller !== undefined || scope.root.isOwned) return;
  const { runId } = scope.root.identity;
  const epoch = host.claimed.get(runId)?.epoch;
  if (epoch === undefined) return;
  addGuard(call, "claim of the run", function* () {
    if (!(yield* isClaimed(runId, epoch))) throw fenced(call);
  });
}

/** Only here it is certain that nothing was run, whether or not the intent was committed. */
function withoutEffect(error: unknown): unknown {
  if (!isStoreFailure(error)) return error;
  return copyError(error, { effect: "none" });
}

function isStoreFailure(error: unknown): error is ToolwrightError {
  return ToolwrightError.is(error) && error.code === "TOOL_STORE_FAILED";
}

/** Pure calls are safe to repeat, so they need no intent row. */
function beginPure(call: Call, next: Next): Promise<Result> {
  takeSeq(call);
  call.begun = true;
  call.isDeferred = true;
  emit(call, { type: "call-started", seq: call.seq });
  return next(call);
}

function* beginCall(call: Call): Transaction<void> {
  if (call.guards !== undefined) for (const guard of call.guards.values()) yield* guard();
  const { row } = call;
  if (row === undefined) {
    yield* insertIntent(call);
    return;
  }
  call.seq = row.seq;
  const changes = yield* startAgain(
    row,
    {
      idempotencyKey: call.idempotencyKey === call.key ? null : call.idempotencyKey,
      inputJson: yield* logText(call, "input", call.inputJson),
      startedAtMs: call.startedAtMs,
      ownerId: call.host.ownerId,
      toolCallId: call.toolCallId ?? null,
      approvalId: call.approvalId ?? row.approvalId,
      trace: call.span?.trace ?? null,
    },
    call.scope.writer,
  );
  if (changes === 0) yield* explainRefusal(call);
}
