/**
 * How far a call has come in the pipeline. Fields are grouped by the stage that writes them; other stages only read them.
 * A call that enters the pipeline again (`resetCall`) starts with new values.
 */
import type { ApprovalRow } from "../store/tables/approvals.ts";
import type { CacheKey } from "../store/tables/cache.ts";
import type { CallRow } from "../store/tables/calls.ts";
import type { Spending } from "./spending.ts";
import type { EarlierSpan } from "./telemetry.ts";

/** A class with initial values: every call has the same shape from the start, which is the cheapest. */
export class Progress {
  // Written by `journal` (journal/decide.ts), before the call runs.

  /** The existing row of this attempt that the call continues, if any. */
  row: CallRow | undefined = undefined;
  /** The call is entered again after an inner call was decided. It was counted against the limits when it began. */
  isReentry: boolean = false;
  /** An approval was redeemed for this call before its outcome became unknown: it needs no second one. */
  approvedBefore: boolean = false;
  /** The arguments that an approver edited, as JSON. They replace the arguments that were sent. */
  editedArgsJson: string | null = null;
  /** The span of an earlier try of this call, or of its approval request. */
  earlier: EarlierSpan | undefined = undefined;
  /** For telemetry: the key that the recorded call passed on, where it is not the key of the call. */
  recordedKey: string | null = null;
  /** The stored late output of an effect that happened: the only trace of it. */
  lateJson: string | null = null;
  /** In a fork: the parent's call whose result this call returns, or is asked about. */
  copiedFrom: string | null = null;

  // Written by `journal`, and by a later stage.

  /** An earlier try may have had its effect, so a refusal now proves nothing. Also written by `claim`. */
  mayHaveHappened: boolean = false;
  /** The approval that this call runs on, and redeems when it begins. Also written by `approve`. */
  approval: ApprovalRow | undefined = undefined;
  /** The id of the approval that this call ran on, or will run on. Also written by `approve`. */
  approvalId: string | null = null;
  /** What the model reads alongside the result. Also written by `approve`, and in a replay by `replay`. */
  note: string | undefined = undefined;

  // Written by `limit`.

  /** Stores the cost while the call runs, if the run has a cost limit. */
  spending: Spending | undefined = undefined;
  /** When the time limit of the run ends this call, by the monotonic clock. */
  wallDeadlineMs: number | undefined = undefined;

  // Written by `capacity`.

  /** How often the call waited for calls in flight that may open the breaker. */
  breakerWaits: number = 0;
  /** How often the call waited for budgets that calls of other processes hold. */
  budgetWaits: number = 0;
  /** Waiting for a slot or a budget would be a deadlock: the calls that hold them wait for this call. */
  mustNotWait: boolean = false;

  // Written by `cache`.

  /** The key under which equal calls share a result. Computed once, since `keyFn` is code of the author. */
  cacheKey: CacheKey | undefined = undefined;

  // Written by `breaker`.

  /** The call probes whether a failing tool works again. */
  isProbe: boolean = false;

  // Written by `tool-limits`.

  /** The limit under which the call holds a place while it runs. Computed once, since `key` is code of the author. */
  placeName: string | undefined = undefined;
  /** The limit that counts when the call begins. */
  rateName: string | undefined = undefined;
  /**
   * Waiting for a place would be a deadlock: the call that holds it waits for this call. Also written by
   * `wait-for-place`. */
  mustShare: boolean = false;

  // Written by `begin`.

  begun: boolean = false;
  /** A pure call, which needs no intent: its row is inserted when it ends. */
  isDeferred: boolean = false;

  // Written by `retry`.

  /** All failed tries so far reported `effect: "none"`. */
  noEffectSoFar: boolean = true;

  // Written by `timeout`.

  /** A try was interrupted inside `execute`, so its effect is in doubt, however soon it settles after that. */
  interruptedInExecute: boolean = false;

  // Written by `execute`.

  /** `execute` was entered: from here on there may be an external effect. */
  executed: boolean = false;
  tries: number = 0;
  /** The tool has read `ctx.idempotencyKey`. Set by the tool's context, and reset by `execute` before the first try. */
  keyRead: boolean = false;

  // Written by `validate`, after the tool has returned.

  /** The stored form of the output, before redaction. */
  outputJson: string | undefined = undefined;

  // Written while the tool runs.

  /** By the tool's context: what `ctx.reportCost` reported. */
  costUsd: number = 0;
  /** By the built-in tools: the isolation that their commands ran with. */
  isolation: string | null = null;
  /** By `invoke` of an inner call: the approval that the inner call waits for. */
  innerPending: ApprovalRow | undefined = undefined;
}
