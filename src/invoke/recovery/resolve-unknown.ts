/**
 * An interrupted call: its process died between intent and outcome, or it failed in a way that leaves open whether
 * anything happened. Runs it again where that is harmless, asks the world or a person where it is not.
 */
import { isUnrepeatable } from "../../definition/tool-spec.ts";
import { ToolwrightError } from "../../errors.ts";
import { approvalOfCall, type ApprovalRow } from "../../store/approvals.ts";
import { type CallRow } from "../../store/calls.ts";
import { closeCall } from "../../store/write-calls.ts";
import { savePayload } from "../../store/payloads.ts";
import { hasUnreadKey } from "../../store/unread-keys.ts";
import { msLeft } from "../../util/clock.ts";
import { decode, encode } from "../../util/encode.ts";
import { explainRefusal } from "../record/rows.ts";
import { truncateJson } from "../../util/truncate.ts";
import { requestApproval } from "../approvals/request.ts";
import { type Call, tell } from "../call.ts";
import type { Result } from "../outcome.ts";
import { redeemGuard } from "../approvals/redeem.ts";
import { parseOutput, prepareInput } from "../policies/validate.ts";
import { messageOf } from "../error-record.ts";
import { createScrubber, holdsMark, maskOutput } from "../redact.ts";
import { withToolContext } from "../tool-context.ts";
import { hasSettled } from "./wait-for-owner.ts";

/** `undefined` means: run it (again), with the same key. */
export async function resolveUnknown(call: Call, row: CallRow): Promise<Result | undefined> {
  const { spec } = call;
  if (spec.onUnknown === undefined && !isUnrepeatable(spec)) return rerun(call, "it is safe to repeat");
  if (spec.reconcile !== undefined) {
    const answer = await reconcile(call, row);
    if (answer !== undefined) return answer.happened ? happened(call, row, answer.outputJson) : undefined;
    if (spec.onUnknown === undefined) return { kind: "error", error: stillUnknown(call, row) };
  }
  switch (spec.onUnknown ?? ((await passesKeyOn(call)) ? "run" : "ask")) {
    case "run":
      return rerun(call, "it passes its key on, so that the service can tell");
    case "ask":
      return askPerson(call, row);
    case "tell":
    case "fail":
      return { kind: "error", error: stillUnknown(call, row) };
  }
}

function rerun(call: Call, reason: string): undefined {
  tell(call, { type: "call-rerun", reason });
  if (isUnrepeatable(call.spec)) {
    call.note = `An earlier try of this call was interrupted; it was made again with the same idempotency key.`;
  }
}

/** A tool passes its key on if it says so, by default if it takes `ctx`; no longer once it has been seen not to. */
async function passesKeyOn(call: Call): Promise<boolean> {
  const { spec, host } = call;
  return spec.takesKey && !(await host.store.read(() => hasUnreadKey(spec.name)));
}

type Answer = { readonly happened: true; readonly outputJson: string } | { readonly happened: false };

/** Asks the outside world. `undefined` when it does not know either. */
async function reconcile(call: Call, row: CallRow): Promise<Answer | undefined> {
  const { spec, host } = call;
  // The world cannot say yet what a try that is still at work will do.
  if (!(await hasSettled(call, row))) return undefined;
  // A request of a process that died, or of a try that has just settled, may still be on its way.
  const sinceMs = row.executing === false ? (row.finishedAtMs ?? row.startedAtMs) : row.startedAtMs;
  const leftMs = msLeft(sinceMs, spec.settleMs, host.clock.now());
  if (leftMs > 0) await settle(call, leftMs);
  const input = await prepareInput(call);
  try {
    call.seq = row.seq;
    const answer = await withToolContext(call, async (ctx) => spec.reconcile?.(input, ctx));
    if (answer === undefined || answer === null) return undefined;
    if (!answer.happened) return { happened: false };
    return { happened: true, outputJson: await parseOutput(call, answer.output) };
  } catch (error) {
    tell(call, {
      type: "call-logged",
      level: "warn",
      message: createScrubber(spec, call.args, call.input)(`reconcile failed: ${messageOf(error)}`),
      data: undefined,
    });
    return undefined;
  }
}

async function settle(call: Call, ms: number): Promise<void> {
  try {
    await call.host.clock.sleep(ms, call.signal);
  } catch (cause) {
    throw new ToolwrightError(
      "TOOL_ABORTED",
      "The call was cut off before it was known whether it had happened.",
      {
        cause,
      },
    );
  }
}

/** Puts what is known now on record in the place of what was not. */
async function happened(call: Call, row: CallRow, clearJson: string): Promise<Result> {
  const { host, scope, spec } = call;
  const outputJson =
    spec.redactOutput.length === 0
      ? clearJson
      : encode(maskOutput(spec, decode(clearJson), host.store.secret));
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
      },
      scope.writer,
    );
    if (changes === 0) yield* explainRefusal(call);
  }, "normal");
  if (row.key === call.key && row.attempt === scope.attempt) {
    return { kind: "success", output: decode(outputJson), replayed: true };
  }
  return { kind: "recorded", outputJson, attempt: row.attempt };
}

/** A person decides between: it happened, run it again, give up. */
async function askPerson(call: Call, row: CallRow): Promise<Result | undefined> {
  const latest = await call.host.store.read(() => approvalOfCall(call.key, call.host.clock.now()));
  const asked = latest?.kind === "replay" && latest.redeemedAtMs === null ? latest : undefined;
  switch (asked?.status) {
    case "pending":
      return { kind: "pending", approval: asked };
    case "approved":
      return decided(call, row, asked);
    case "denied":
      return { kind: "denied", approval: asked };
    default:
      await prepareInput(call);
      return { kind: "pending", approval: await requestApproval(call, "replay", latest) };
  }
}

async function decided(call: Call, row: CallRow, approval: ApprovalRow): Promise<Result | undefined> {
  if (approval.outputJson !== null) {
    const { outputJson } = approval;
    return happened(
      call,
      row,
      holdsMark(outputJson) ? outputJson : await parseOutput(call, decode(outputJson)),
    );
  }
  await hasSettled(call, row);
  call.approvedBefore = true;
  call.guards.set("replay", () => redeemGuard(call, approval));
  return rerun(call, "a person said so");
}

function stillUnknown(call: Call, row: CallRow): ToolwrightError {
  const { spec } = call;
  return new ToolwrightError(
    "TOOL_OUTCOME_UNKNOWN",
    `An earlier call of "${spec.name}" with these arguments was interrupted (attempt ${row.attempt}), and nobody can tell whether it happened.`,
    {
      details: {
        tool: spec.name,
        key: row.key,
        attempt: row.attempt,
        onUnknown: spec.onUnknown ?? "reconcile",
      },
    },
  );
}
