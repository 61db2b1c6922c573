/** Runs the tool itself. From here on something may happen outside, so ownership is checked one last time. */
import type { ToolContext } from "../../definition/context.ts";
import type { ApprovalRow } from "../../store/tables/approvals.ts";
import { systemClock } from "../../util/clock.ts";
import type { HostValue } from "../../util/encode.ts";
import { type Call, emit } from "../call.ts";
import { messageOf, toToolwrightError, withoutInnerEffect } from "../error-record.ts";
import type { Result } from "../outcome.ts";
import { aborted, type Policy } from "../policy.ts";
import { assertStillOwned, LostOwnership } from "../journal/still-owned.ts";
import { storableOutput } from "../storable.ts";
import { badOutput } from "./validate.ts";
import { withToolContext } from "../tool-context.ts";
import { Try } from "../try.ts";

export const execute: Policy = async (call) => {
  const attempt = call.currentTry ?? new Try(call);
  try {
    // The call around this one may have ended while this one waited for its turn.
    if (call.scope.ofTry?.isOver === true) return aborted(call.signal);
    const output = await withToolContext(call, (ctx) => enter(call, ctx), attempt);
    const { innerPending } = call;
    return innerPending === undefined ? { kind: "success", output } : await pendingInside(call, innerPending);
  } catch (thrown) {
    const lost = LostOwnership.errorOf(thrown);
    if (lost !== undefined) throw lost;
    const flow = call.hostLoop?.onThrow(thrown);
    if (flow !== undefined) return await leaveToLoop(call, flow, thrown);
    const error = withoutInnerEffect(toToolwrightError(thrown, call.spec.name));
    const { innerPending } = call;
    return innerPending === undefined ? { kind: "error", error } : await pendingInside(call, innerPending);
  } finally {
    attempt.end();
  }
};

/** Control flow of the loop around the call is no failure of the tool. */
async function leaveToLoop(call: Call, flow: "suspend" | HostValue, thrown: unknown): Promise<Result> {
  const { innerPending } = call;
  if (innerPending !== undefined) return pendingInside(call, innerPending);
  if (flow !== "suspend") return { kind: "success", output: flow };
  await innerCallsEnd(call);
  return { kind: "suspended", thrown };
}

async function enter(call: Call, ctx: ToolContext<object>): Promise<unknown> {
  const checking = assertStillOwned(call);
  if (checking !== undefined) await checking;
  if (call.isMadeByLoop && call.tries === 0) {
    const mark = call.isReentry ? (call.row?.waitsFor ?? undefined) : undefined;
    await call.hostLoop?.onEnter?.({ mark, isApproved: call.approvalId !== null });
  }
  // Functions other than execute may have looked at the key; the tool has not read it yet.
  if (!call.executed) call.keyRead = false;
  call.executed = true;
  call.tries += 1;
  const { spec, sent, input } = call;
  const returned: unknown = spec.execute(spec.parsesInput ? sent : input, ctx);
  assertReadable(call, returned);
  const value: unknown = await returned;
  const output = isAsyncIterable(value) ? await lastOf(call, value) : value;
  if (call.spec.sideEffect) await snapshot(call, ctx);
  return output;
}

/** A snapshot that fails never fails the tool. */
async function snapshot(call: Call, ctx: ToolContext<object>): Promise<void> {
  try {
    await ctx.durabilitySnapshot(call.spec.name, call.toolCallId ?? call.key);
  } catch (error) {
    call.host.warnOnce("snapshot", `a snapshot after "${call.spec.name}" failed: ${messageOf(error)}`);
  }
}

/**
 * An inner call that waits makes this one wait, even if the tool swallowed the error. Calls made beside it are given time
 * to end: their requests are shown together with the first, and the next pass finds their outcomes.
 */
async function pendingInside(call: Call, approval: ApprovalRow): Promise<Result> {
  await innerCallsEnd(call);
  return { kind: "pending", approval };
}

async function innerCallsEnd(call: Call): Promise<void> {
  const open = [...(call.innerScope?.open ?? [])].map((inner) => inner.ended.promise);
  if (open.length > 0) {
    const over = new AbortController();
    const timeout = systemClock.sleep(call.host.settings.timeoutMs, over.signal).catch(() => undefined);
    await Promise.race([Promise.all(open), timeout]);
    over.abort();
  }
}

/** @throws TOOL_OUTPUT_INVALID where the value cannot be looked at, such as a revoked proxy: the tool ran all the same */
function assertReadable(call: Call, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  try {
    void ("then" in value);
  } catch (cause) {
    throw badOutput(call.spec, "its output cannot be read", cause);
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** A generator's last yield is the result, as in the AI SDK; the earlier ones are progress. */
async function lastOf(call: Call, items: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const item of items) {
    last = item;
    call.onYield?.(item);
    tellProgress(call, item);
  }
  return last;
}

/** A yield that cannot be looked at is not shown; as the last one it is judged like any other output. */
function tellProgress(call: Call, item: unknown): void {
  try {
    const data = storableOutput(call.spec, call.args, item, call.host.store.secret);
    emit(call, { type: "call-progress", message: "", data });
  } catch {
    return;
  }
}
