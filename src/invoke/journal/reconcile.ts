/** Runs the tool's `reconcile` function, which checks outside whether an interrupted call happened. */
import type { ToolwrightError } from "../../errors.ts";
import type { Store } from "../../store/store.ts";
import type { CallRow } from "../../store/tables/calls.ts";
import { readOwner } from "../../store/tables/owners.ts";
import { msLeft, systemClock } from "../../util/clock.ts";
import { abortError } from "../abort-error.ts";
import { runAuthorFunction } from "../author-functions.ts";
import { type Call, emit } from "../call.ts";
import { messageOf } from "../error-record.ts";
import { parseOutput, prepareInput } from "../policies/validate.ts";
import { createScrubber } from "../scrub.ts";
import { hasSettled, settledAtMs } from "./wait-for-owner.ts";

export type Reconciliation =
  | { readonly happened: true; readonly outputJson: string }
  | { readonly happened: false };

/** `undefined` if the tool cannot know: `reconcile` returned `undefined`, threw, or returned an invalid value. */
export async function reconcile(call: Call, row: CallRow): Promise<Reconciliation | undefined> {
  const { spec } = call;
  // While a try still runs, its effect may happen later.
  if (!(await hasSettled(call, row))) return undefined;
  await waitUntilSettled(call, row);
  const input = await prepareInput(call);
  try {
    call.seq = row.seq;
    const found: unknown = await runAuthorFunction(call, async (ctx) => spec.reconcile?.(input, ctx));
    if (found === undefined || found === null) return undefined;
    const { happened, output } = found as { readonly happened?: unknown; readonly output?: unknown };
    // Strict: a typo or a truthy string must not decide that the call runs again.
    if (typeof happened !== "boolean")
      throw new Error("it must return { happened: true, output }, { happened: false } or undefined");
    return happened ? { happened, outputJson: await parseOutput(call, output) } : { happened };
  } catch (error) {
    // A `reconcile` that was aborted proves nothing about the call.
    if (call.signal?.aborted === true) throw unresolved(call);
    emit(call, {
      type: "call-logged",
      level: "warn",
      message: createScrubber(call)(`reconcile failed: ${messageOf(error)}`),
      data: undefined,
    });
    return undefined;
  }
}

/** A request of a dead process, or of a try that has just settled, may still be in transit. */
async function waitUntilSettled(call: Call, row: CallRow): Promise<void> {
  const leftMs = await msUntilSettled(call, row);
  if (leftMs <= 0) return;
  try {
    await call.host.clock.sleep(leftMs, call.signal);
  } catch {
    // Only an abort ends the wait early.
    throw unresolved(call);
  }
}

async function msUntilSettled(call: Call, row: CallRow): Promise<number> {
  const { spec, host } = call;
  const settledMs = await settledAtMs(call, row);
  const { ownerId } = row;
  const isOwn = ownerId === null || ownerId === host.ownerId;
  // An injected clock is the same one in all processes.
  if (isOwn || host.clock !== systemClock)
    return msLeft(settledMs === 0 ? row.startedAtMs : settledMs, spec.settleMs, host.clock.now());
  const owner = await host.store.read(() => readOwner(ownerId));
  // It could send requests until its lease ended, by the clock of the database.
  if (owner !== undefined && -owner.leaseLeftMs >= spec.settleMs) return 0;
  if (settledMs > 0) return spec.settleMs;
  return Math.max(0, spec.settleMs - msSinceMet(host.store, ownerId));
}

/** When this process first met a call of a dead owner, by the monotonic clock. */
const metAt = new WeakMap<Store, Map<string, number>>();

/**
 * The clocks of two machines differ, and one may have been set, so the stored time of an intent proves nothing about its age. What
 * has passed here since the owner was found dead does.
 */
function msSinceMet(store: Store, ownerId: string): number {
  const now = systemClock.monotonic();
  const known = metAt.get(store) ?? new Map<string, number>();
  metAt.set(store, known);
  const since = known.get(ownerId) ?? now;
  known.set(ownerId, since);
  return now - since;
}

function unresolved(call: Call): ToolwrightError {
  return abortError(call, { doing: "before the outcome of an earlier call was resolved" });
}
