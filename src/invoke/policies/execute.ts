/** Runs the tool itself. From here on there may be an external effect, so ownership is checked one last time. */
import type { ToolContext } from "../../definition/context.ts";
import type { ApprovalRow } from "../../store/tables/approvals.ts";
import { systemClock } from "../../util/clock.ts";
import type { HostValue } from "../../util/encode.ts";
import { type Call, emit } from "../call.ts";
import { messageOf, toToolwrightError, withoutInnerEffect } from "../error-record.ts";
import type { Result } from "../outcome.ts";
import { aborted, type Policy } from "../policy.ts";
import { assertStillOwned, LostOwnership } from "../journal/check-ownership.ts";
import { storableOutput } from "../storable.ts";
import { badOutput } from "./validate.ts";
import { takesSnapshots, withToolContext } from "../tool-context.ts";
import { Try } from "../try.ts";

export const execute: Policy = async (call) => {
  const currentTry = call.currentTry ?? new Try(call);
  try {
    // The enclosing call may have ended while this one waited.
    if (call.scope.ofTry?.isOver === true) return aborted(call);
    const output = await withToolContext(call, (ctx) => enter(call, ctx, currentTry), currentTry);
    if (output === NOT_ENTERED) return aborted(call);
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
    currentTry.end();
  }
};

/** Control flow of the enclosing loop is not a failure of the tool. */
async function leaveToLoop(call: Call, flow: "suspend" | HostValue, thrown: unknown): Promise<Result> {
  const { innerPending } = call;
  if (innerPending !== undefined) return pendingInside(call, innerPending);
  if (flow !== "suspend") return { kind: "success", output: flow };
  await innerCallsEnd(call);
  return { kind: "suspended", thrown };
}

/** The try was interrupted before it entered the tool. */
const NOT_ENTERED = Symbol("not entered");

async function enter(call: Call, ctx: ToolContext<object>, currentTry: Try): Promise<unknown> {
  const checking = assertStillOwned(call);
  if (checking !== undefined) await checking;
  if (call.isMadeByLoop && call.tries === 0) {
    const mark = call.isReentry ? (call.row?.waitsFor ?? undefined) : undefined;
    await call.hostLoop?.onEnter?.({ mark, isApproved: call.approvalId !== null });
  }
  // Capabilities and the checks above take time. The call may have ended meanwhile, as one that ran nothing.
  if (currentTry.isStopped) return NOT_ENTERED;
  // The author's other functions may have read the key; `execute` has not.
  if (!call.executed) call.keyRead = false;
  call.executed = true;
  call.tries += 1;
  const { spec, sent, input } = call;
  const returned: unknown = spec.execute(spec.parsesInput ? sent : input, ctx);
  assertReadable(call, returned);
  const value: unknown = await returned;
  const output = isAsyncIterable(value) ? await lastOf(call, value) : value;
  if (call.spec.sideEffect && takesSnapshots(ctx)) await snapshot(call, ctx);
  return output;
}

/** A failed snapshot never fails the call. */
async function snapshot(call: Call, ctx: ToolContext<object>): Promise<void> {
  try {
    await ctx.durabilitySnapshot(call.spec.name, call.toolCallId ?? call.key);
  } catch (error) {
    call.host.warnOnce("snapshot", `a snapshot after "${call.spec.name}" failed: ${messageOf(error)}`);
  }
}

/**
 * If an inner call waits for approval, this one waits too, even if the tool caught the error. Parallel inner calls get time to
 * end, so that all requests appear together and the next pass finds the outcomes.
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

/** @throws TOOL_OUTPUT_INVALID if the value cannot be read, such as a revoked proxy: the tool did run */
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
    emitProgress(call, item);
  }
  return last;
}

/** A yield that cannot be read is not emitted. As the last one, it is validated like any other output. */
function emitProgress(call: Call, item: unknown): void {
  try {
    const data = storableOutput(call.spec, call.args, item, call.host.store.secret);
    emit(call, { type: "call-progress", message: "", data });
  } catch {
    return;
  }
}
