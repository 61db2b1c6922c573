/** Runs the tool itself. From here on something may happen outside, so the lease is looked at one last time. */
import type { ToolContext } from "../../definition/context.ts";
import type { ApprovalRow } from "../../store/approvals.ts";
import { type Call, tell } from "../call.ts";
import { toToolwrightError } from "../error-record.ts";
import type { Result } from "../outcome.ts";
import type { Policy } from "../policy.ts";
import { fenced } from "../record/rows.ts";
import { maskOutput } from "../redact.ts";
import { withoutInnerEffect } from "../told-errors.ts";
import { withToolContext } from "../tool-context.ts";

export const execute: Policy = async (call) => {
  try {
    const output = await withToolContext(call, (ctx) => enter(call, ctx));
    const { innerPending } = call;
    return innerPending === undefined ? { kind: "success", output } : await pendingInside(call, innerPending);
  } catch (thrown) {
    const error = withoutInnerEffect(toToolwrightError(thrown, call.spec.name));
    const { innerPending } = call;
    return innerPending === undefined ? { kind: "error", error } : pendingInside(call, innerPending);
  }
};

async function enter(call: Call, ctx: ToolContext<object>): Promise<unknown> {
  // A process that was stopped for long has been taken for dead: its successor may be at work.
  if (call.host.isLeaseLost()) throw fenced(call);
  // What others looked at, the tool has not read.
  if (!call.executed) call.keyRead = false;
  call.executed = true;
  call.tries += 1;
  const { spec, sent, input } = call;
  const returned: unknown = await spec.execute(spec.parsesInput ? sent : input, ctx);
  const output = isAsyncIterable(returned) ? await lastOf(call, returned) : returned;
  if (call.spec.sideEffect) await snapshot(call, ctx);
  return output;
}

/** A snapshot that fails never fails the tool. */
async function snapshot(call: Call, ctx: ToolContext<object>): Promise<void> {
  try {
    await ctx.durabilitySnapshot(call.spec.name, call.toolCallId ?? call.key);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    call.host.warnOnce("snapshot", `a snapshot after "${call.spec.name}" failed: ${message}`);
  }
}

/**
 * An inner call that waits makes this one wait, even if the tool swallowed the news. Others that were made beside it
 * may be about to ask as well: a person is shown all requests at once.
 */
async function pendingInside(call: Call, approval: ApprovalRow): Promise<Result> {
  const asking = [...(call.innerScope?.open ?? [])].filter((inner) => !inner.begun);
  await Promise.all(asking.map((inner) => inner.ended.promise));
  return { kind: "pending", approval };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** A generator's last yield is the result, as in the AI SDK; the earlier ones are progress. */
async function lastOf(call: Call, items: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const item of items) {
    last = item;
    const masked = maskOutput(call.spec, item, call.host.store.secret);
    tell(call, { type: "call-progress", message: "", data: masked });
  }
  return last;
}
