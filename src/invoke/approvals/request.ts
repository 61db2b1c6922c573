/** Writes down that a call waits for a person, and what that person has to see. */
import {
  type ApprovalRow,
  insertApproval,
  type NewApproval,
  readApproval,
  voidApproval,
} from "../../store/tables/approvals.ts";
import { closeCall } from "../../store/tables/write-calls.ts";
import { momentAfter } from "../../util/clock.ts";
import { digest } from "../../util/hash.ts";
import { encode } from "../../util/encode.ts";
import { askAuthor } from "../ask-author.ts";
import { argumentsHash, type Call, emit } from "../call.ts";
import { Contended } from "../policy.ts";
import { storableInput } from "../storable.ts";
import { encodeContract } from "./contract.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { explainRefusal, insertRow } from "../journal/rows.ts";

/**
 * @param previous an earlier request about this call, which the new one replaces
 * @param question what is asked, where it is not the tool's own prompt
 */
export async function requestApproval(
  call: Call,
  kind: "call" | "replay",
  previous: ApprovalRow | undefined,
  question?: string,
): Promise<ApprovalRow> {
  const { host, row } = call;
  const approval = await describe(call, kind, (previous?.round ?? 0) + 1, question);
  const stored = await host.store.transaction(function* () {
    // The approval that an interrupted call was run on stays what it is.
    const isReplaced =
      previous?.kind === kind && (previous.status === "approved" || previous.status === "pending");
    if (isReplaced) yield* voidApproval(previous.id);
    yield* insertApproval(approval);
    // It also says with which arguments the call ran, so a question about the call does not take its place in the row.
    const waits =
      kind === "replay"
        ? { waitsFor: approval.id, approvalId: call.approvalId ?? approval.id }
        : { approvalId: approval.id };
    if (row === undefined) {
      yield* insertRow(call, { status: "pending", startedAtMs: approval.requestedAtMs, ...waits });
    } else {
      const changes = yield* closeCall(
        row,
        {
          status: "pending",
          effect: row.effect,
          outputJson: null,
          errorJson: row.errorJson,
          finishedAtMs: null,
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
  emit(call, { type: "approval-requested", approvalId: stored.id });
  return stored;
}

async function describe(
  call: Call,
  kind: "call" | "replay",
  round: number,
  question: string | undefined,
): Promise<NewApproval> {
  const { spec, scope, host } = call;
  const { runId, nodeId, iteration, parentKey } = scope.identity;
  const now = host.clock.now();
  const ttlMs = spec.approvalTtlMs ?? host.approvalTtlMs;
  return {
    // Made from the call, so that two processes that ask at once ask once.
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
    argsJson: encode(askedArgs(call)),
    argsHash: argumentsHash(call),
    prompt: question ?? (await promptOf(call)),
    defaultsJson: spec.approvalDefaults === undefined ? null : encode(spec.approvalDefaults),
    contractJson: encodeContract(spec),
    hasClearArgs: spec.digestInput !== undefined,
    requestedAtMs: now,
    expiresAtMs: ttlMs === undefined ? null : momentAfter(now, ttlMs),
  };
}

/** The person has to see the content of a `write`: it is stored in clear until the task has ended. */
function askedArgs({ spec, args, input, host }: Call): unknown {
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
    // The prompt is stored, so it is made from what may be stored.
    const shown = storableInput(spec, call.input, call.host.store.secret, { data: call.input });
    const prompt: unknown = await askAuthor(call, async (ctx) => approvalPrompt(shown, ctx));
    return typeof prompt === "string" ? prompt : fallback;
  } catch {
    // A prompt that cannot be made must not keep the request from being made.
    return fallback;
  }
}
