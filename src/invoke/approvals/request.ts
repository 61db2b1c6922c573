/** Stores the approval request of a call, and redeems the approval when the call begins. */
import {
  type ApprovalRow,
  insertApproval,
  type NewApproval,
  readApproval,
  redeemApproval,
  voidApproval,
} from "../../store/tables/approvals.ts";
import type { Transaction } from "../../store/store.ts";
import { closeCall } from "../../store/tables/write-calls.ts";
import { momentAfter } from "../../util/clock.ts";
import { digest } from "../../util/hash.ts";
import { encode } from "../../util/encode.ts";
import { runAuthorFunction } from "../author-functions.ts";
import { type Call, emit, type Guard } from "../call.ts";
import { argumentsHash } from "../call-identity.ts";
import { Contended } from "../policy.ts";
import { storableInput } from "../storable.ts";
import { placeOf } from "../trace-work.ts";
import { encodeContract, fingerprintOf } from "./contract.ts";
import { explainRefusal, insertRow } from "../journal/rows.ts";

/** About an interrupted call: the prompt, and a check that the request is still needed. */
export interface ReplayQuestion {
  readonly prompt: string;
  readonly guard: Guard;
  /** An answer "it happened" needs no output: the result is stored. */
  readonly isOutputKnown?: boolean;
  /** The interrupted try is still running. */
  readonly isAtWork?: boolean;
}

/** @param previous an earlier request for this call, which the new one replaces */
export async function requestApproval(
  call: Call,
  kind: "call" | "replay",
  previous: ApprovalRow | undefined,
  question?: ReplayQuestion,
): Promise<ApprovalRow> {
  const { host, row } = call;
  const approval = await describe(call, kind, (previous?.round ?? 0) + 1, question);
  const work = { type: "request", place: placeOf(call.scope), toolName: call.spec.name } as const;
  const span = host.telemetry?.open(work);
  if (call.earlier !== undefined) span?.link(call.earlier);
  const stored = await host.store.transaction(function* () {
    if (question !== undefined) yield* question.guard();
    // The approval that an interrupted call ran on stays as it is.
    const isReplaced =
      previous?.kind === kind && (previous.status === "approved" || previous.status === "pending");
    if (isReplaced) yield* voidApproval(previous.id);
    yield* insertApproval(approval);
    // `approvalId` also shows with which arguments the call ran, so a replay request does not replace it in the row.
    const waits =
      kind === "replay"
        ? { waitsFor: approval.id, approvalId: call.approvalId ?? approval.id }
        : { approvalId: approval.id };
    // The decision, and the call after it, link to the request; the request links to what was before.
    const trace = span?.trace ?? null;
    if (row === undefined) {
      yield* insertRow(call, { status: "pending", startedAtMs: approval.requestedAtMs, trace, ...waits });
    } else {
      const changes = yield* closeCall(
        row,
        {
          status: "pending",
          effect: row.effect,
          outputJson: null,
          errorJson: row.errorJson,
          finishedAtMs: null,
          trace,
          ...waits,
        },
        call.scope.writer,
      );
      if (changes === 0) yield* explainRefusal(call);
    }
    return yield* readApproval(approval.id, approval.requestedAtMs);
  }, "normal");
  call.scope.noteRecorded(call.key);
  if (stored === undefined) throw new Contended();
  // The request is a moment; the wait is a metric.
  span?.end({ status: "pending" });
  emit(call, { type: "approval-requested", approvalId: stored.id });
  return stored;
}

async function describe(
  call: Call,
  kind: "call" | "replay",
  round: number,
  question: ReplayQuestion | undefined,
): Promise<NewApproval> {
  const { spec, scope, host } = call;
  const { runId, nodeId, iteration, parentKey } = scope.identity;
  const now = host.clock.now();
  const ttlMs = spec.approvalTtlMs ?? host.approvalTtlMs;
  return {
    // Derived from the call, so that two processes that request approval at once create one request.
    id: `apr_${digest([call.key, kind, round]).slice(0, 24)}`,
    kind,
    runId,
    nodeId,
    iteration,
    scopeId: scope.id,
    callKey: call.key,
    parentKey,
    round,
    toolName: spec.name,
    fingerprint: fingerprintOf(spec),
    argsJson: encode(shownArgs(call)),
    argsHash: argumentsHash(call),
    prompt: question?.prompt ?? (await promptOf(call)),
    defaultsJson: spec.approvalDefaults === undefined ? null : encode(spec.approvalDefaults),
    contractJson: encodeContract(spec, question),
    hasClearArgs: spec.digestInput !== undefined,
    requestedAtMs: now,
    expiresAtMs: ttlMs === undefined ? null : momentAfter(now, ttlMs),
  };
}

/** The approver must see the content of a `write`, so it is stored unredacted until the task has ended. */
function shownArgs({ spec, args, input, host }: Call): unknown {
  return spec.digestInput === undefined
    ? storableInput(spec, args, host.store.secret, { data: input })
    : args;
}

async function promptOf(call: Call): Promise<string> {
  const { spec } = call;
  const { approvalPrompt } = spec;
  const fallback = `May "${spec.name}" run with these arguments?`;
  if (approvalPrompt === undefined) return fallback;
  if (typeof approvalPrompt === "string") return approvalPrompt;
  try {
    // The prompt is stored, so it receives only the storable input.
    const shown = storableInput(spec, call.input, call.host.store.secret, { data: call.input });
    const prompt: unknown = await runAuthorFunction(call, async (ctx) => approvalPrompt(shown, ctx));
    return typeof prompt === "string" ? prompt : fallback;
  } catch {
    // A failing prompt must not prevent the request.
    return fallback;
  }
}

/** Redeems an approval in the transaction that begins its call: it counts once. */
export function* redeemGuard(call: Call, approval: ApprovalRow): Transaction<void> {
  const changes = yield* redeemApproval(approval.id, call.host.clock.now());
  if (changes === 0) throw new Contended();
}
