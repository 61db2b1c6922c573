/** Asks the outside world whether an interrupted call happened. */
import { ToolwrightError } from "../../errors.ts";
import type { CallRow } from "../../store/tables/calls.ts";
import { msLeft } from "../../util/clock.ts";
import { askAuthor } from "../ask-author.ts";
import { type Call, emit } from "../call.ts";
import { messageOf } from "../error-record.ts";
import { parseOutput, prepareInput } from "../policies/validate.ts";
import { createScrubber } from "../scrub.ts";
import { hasSettled, settledAtMs } from "./wait-for-owner.ts";

export type Reconciliation =
  | { readonly happened: true; readonly outputJson: string }
  | { readonly happened: false };

/** `undefined` when the tool does not know either: it said so, it threw, or what it said does not fit. */
export async function reconcile(call: Call, row: CallRow): Promise<Reconciliation | undefined> {
  const { spec } = call;
  // The world cannot say yet what a try that is still at work will do.
  if (!(await hasSettled(call, row))) return undefined;
  await waitUntilSettled(call, row);
  const input = await prepareInput(call);
  try {
    call.seq = row.seq;
    const answer: unknown = await askAuthor(call, async (ctx) => spec.reconcile?.(input, ctx));
    if (answer === undefined || answer === null) return undefined;
    const { happened, output } = answer as { readonly happened?: unknown; readonly output?: unknown };
    // Neither a typo nor a text may decide that the call runs again.
    if (typeof happened !== "boolean")
      throw new Error("it must return { happened: true, output }, { happened: false } or undefined");
    return happened ? { happened, outputJson: await parseOutput(call, output) } : { happened };
  } catch (error) {
    // A reconcile that was cut off has not said anything about the call.
    if (call.signal?.aborted === true) throw aborted(error);
    emit(call, {
      type: "call-logged",
      level: "warn",
      message: createScrubber(call)(`reconcile failed: ${messageOf(error)}`),
      data: undefined,
    });
    return undefined;
  }
}

/** A request of a process that died, or of a try that has just settled, may still be on its way. */
async function waitUntilSettled(call: Call, row: CallRow): Promise<void> {
  const { spec, host } = call;
  const settledMs = await settledAtMs(call, row);
  const sinceMs = settledMs === 0 ? row.startedAtMs : settledMs;
  const leftMs = msLeft(sinceMs, spec.settleMs, host.clock.now());
  if (leftMs <= 0) return;
  try {
    await host.clock.sleep(leftMs, call.signal);
  } catch (cause) {
    throw aborted(cause);
  }
}

function aborted(cause: unknown): ToolwrightError {
  return new ToolwrightError(
    "TOOL_ABORTED",
    "The call was aborted before it was known whether an earlier one had happened.",
    { cause },
  );
}
