/**
 * One effect per tool and business key in the whole store. A success in any run is returned. A proven "no effect" frees the
 * key. After any other end the effect is in doubt for the next caller.
 */
import { businessKey, KEY_VERSION } from "../../definition/call-key.ts";
import { ToolwrightError } from "../../errors.ts";
import { type CallRow, callsByKey } from "../../store/tables/calls.ts";
import { type Claim, releaseClaim, takeClaim } from "../../store/tables/claims.ts";
import { readClaimedCall, type RecordedCall } from "../../store/tables/recorded-calls.ts";
import type { Transaction } from "../../store/store.ts";
import { addGuard, addSettler, type Call, callsAround } from "../call.ts";
import { executedHash } from "../call-identity.ts";
import type { Wait } from "../wait-graph.ts";
import { messageOf } from "../error-record.ts";
import type { Result } from "../outcome.ts";
import { aborted, Contended, type Policy, refuse, type Next } from "../policy.ts";
import { resolveUnknown } from "../journal/resolve-unknown.ts";
import { hadEffect, resultOfSameBusinessKey } from "../journal/same-business-key.ts";
import { hasAnswer, waitForOwner } from "../journal/wait-for-owner.ts";
import { effectOf } from "../journal/effect.ts";

export const claim: Policy = (call, next) =>
  call.spec.idempotencyKey === undefined ? next(call) : claimKey(call, call.spec.idempotencyKey, next);

/** Outside any run nothing is claimed, but the tool still receives the key. */
export const nameClaim: Policy = async (call, next) =>
  call.spec.idempotencyKey === undefined
    ? next(call)
    : (takeKey(call, call.spec.idempotencyKey) ?? next(call));

function takeKey(call: Call, idempotencyKey: (args: unknown) => string): Result | undefined {
  try {
    const key: unknown = idempotencyKey(call.input);
    if (typeof key !== "string" || key === "") throw new Error("it must return a non-empty string");
    call.idempotencyKey = businessKey(call.spec.name, key);
    return undefined;
  } catch (error) {
    return refuse(keyError(call, error));
  }
}

async function claimKey(call: Call, idempotencyKey: (args: unknown) => string, next: Next): Promise<Result> {
  const refusal = takeKey(call, idempotencyKey);
  if (refusal !== undefined) return refusal;
  for (;;) {
    const found = await call.host.store.read(() => readHolder(call.idempotencyKey));
    if (found === undefined) return nextWith(call, undefined, next);
    const { held, call: row, isAnswered } = found;
    if (held.deleted !== undefined) return refuse(forgotten(call, held.deleted));
    if (held.callKey === call.key) return nextWith(call, held, next);
    // A claim and its call are written together: without the call, the effect under the key is unknown.
    if (row === undefined) return refuse(forgotten(call, undefined));
    if (!hasArguments(call, held.argsHash)) return refuse(conflict(call, held, row));
    if (row.status === "started" || (row.status === "pending" && !isAnswered)) {
      if (isAncestor(call)) return refuse(cycle(call));
      const refusal = await waitFor(call, row);
      if (refusal !== undefined) return refusal;
      continue;
    }
    const answer = await answerFrom(call, row);
    return answer ?? nextWith(call, held, next, row);
  }
}

function* readHolder(idempotencyKey: string) {
  const found = yield* readClaimedCall(idempotencyKey);
  return found && { ...found, isAnswered: found.call !== undefined && (yield* hasAnswer(found.call)) };
}

/** Claims of version 0.1 have the hash of its key derivation. */
function hasArguments(call: Call, argsHash: string): boolean {
  return argsHash === executedHash(call, KEY_VERSION) || argsHash === executedHash(call, 1);
}

/**
 * Takes the key in the transaction that begins the call, and frees it if there was no effect.
 * @param judged the call that the key is taken from, as it was when this call was allowed to run
 */
function nextWith(call: Call, from: Claim | undefined, next: Next, judged?: CallRow): Promise<Result> {
  const mine: Claim = {
    idempotencyKey: call.idempotencyKey,
    toolName: call.spec.name,
    argsHash: executedHash(call, KEY_VERSION),
    scopeId: call.scope.id,
    callKey: call.key,
    attempt: call.scope.attempt,
  };
  addGuard(call, "claim", function* () {
    const changes = yield* takeClaim(mine, from);
    if (changes === 0) throw new Contended();
    if (judged !== undefined && !(yield* isAsJudged(judged))) throw new Contended();
  });
  addSettler(call, "claim", function* (result) {
    if (effectOf(call, result) === "none") yield* releaseClaim(call.idempotencyKey, call.key);
  });
  return next(call);
}

/**
 * Whether the holder is unchanged. It may have run again and ended while this call waited. Checked after the claim is taken:
 * from then on the holder cannot begin.
 */
function* isAsJudged(judged: CallRow): Transaction<boolean> {
  const rows = yield* callsByKey(judged.scopeId, judged.key);
  const row = rows.find(({ attempt }) => attempt === judged.attempt);
  return (
    row?.status === judged.status &&
    row.effect === judged.effect &&
    row.startedAtMs === judged.startedAtMs &&
    row.finishedAtMs === judged.finishedAtMs &&
    row.ownerId === judged.ownerId
  );
}

/** Waits for the holder of the key, at most as long as the call itself may take. */
async function waitFor(call: Call, row: CallRow): Promise<Result | undefined> {
  const { waitGraph } = call.host;
  const wait: Wait = { kind: "call", waiter: call, holders: () => waitGraph.withKey(row.key) };
  if (!waitGraph.wait(wait)) return refuse(cycle(call));
  try {
    await waitForOwner(call, row, { includesPending: true });
    return undefined;
  } catch (error) {
    if (call.signal?.aborted === true) return aborted(call);
    if (ToolwrightError.is(error) && error.code === "TOOL_TIMEOUT") return refuse(error);
    throw error;
  } finally {
    waitGraph.end(wait);
  }
}

async function answerFrom(call: Call, row: RecordedCall): Promise<Result | undefined> {
  if (hadEffect(row)) return resultOfSameBusinessKey(call, row);
  if (row.effect === "none") return undefined;
  call.mayHaveHappened = true;
  const result = await resolveUnknown(call, row);
  return result?.kind === "recorded" ? { ...result, isElsewhere: true } : result;
}

function isAncestor(call: Call): boolean {
  return [...callsAround(call)].some(({ idempotencyKey }) => idempotencyKey === call.idempotencyKey);
}

function conflict(call: Call, held: Claim, row: CallRow): ToolwrightError {
  return new ToolwrightError(
    "TOOL_IDEMPOTENCY_CONFLICT",
    `Tool "${call.spec.name}": the business key was already used with different arguments (that call is "${row.status}").`,
    {
      details: {
        tool: call.spec.name,
        earlier: { argsHash: held.argsHash, status: row.status, output: row.outputJson },
        argsHash: executedHash(call, KEY_VERSION),
      },
      effect: "none",
    },
  );
}

/** @param deleted when retention deleted the call, and whether its effect happened; `undefined` if unknown */
function forgotten(
  call: Call,
  deleted: { readonly atMs: number; readonly happened: boolean } | undefined,
): ToolwrightError {
  const what =
    deleted?.happened === true
      ? "its effect happened, but its result"
      : "its effect is in doubt, and its log entry";
  const when =
    deleted === undefined
      ? "is no longer in the store"
      : `was deleted by retention on ${new Date(deleted.atMs).toISOString().slice(0, 10)}`;
  return new ToolwrightError(
    "TOOL_RESULT_DELETED",
    `Tool "${call.spec.name}": the business key was already used; ${what} ${when}.`,
    { details: { tool: call.spec.name, ...deleted }, effect: "none" },
  );
}

function cycle(call: Call): ToolwrightError {
  return new ToolwrightError(
    "TOOL_CALL_CYCLE",
    `Tool "${call.spec.name}" would wait for itself: an enclosing call, or a call that waits for it, holds the same business key.`,
    { details: { tool: call.spec.name }, effect: "none" },
  );
}

function keyError(call: Call, cause: unknown): ToolwrightError {
  const reason = messageOf(cause);
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `Tool "${call.spec.name}": idempotencyKey failed: ${reason}.`,
    {
      details: { tool: call.spec.name },
      effect: "none",
      cause,
    },
  );
}
