/** How far a call has come, as the policies note it. A call that goes through the pipeline once more begins anew here. */
import type { ApprovalRow } from "../store/approvals.ts";
import type { CacheKey } from "../store/cache.ts";
import type { CallRow } from "../store/calls.ts";
import type { Spending } from "./spending.ts";

export interface Progress {
  /** The row of this attempt that the call goes on with, if it has one. */
  row: CallRow | undefined;
  /** The decision that the call runs on, and how it is spent. */
  approval: ApprovalRow | undefined;
  /** An approval was redeemed for this call before it became unknown: it needs no second one. */
  approvedBefore: boolean;
  /** The decision that this call was, or is to be, run on. */
  approvalId: string | null;
  /** Arguments that a person put in the place of those that were sent. */
  editedArgsJson: string | null;
  begun: boolean;
  /** It is entered again because an inner call was decided, and was counted when it began. */
  isReentry: boolean;
  /** An earlier try of this call was interrupted, or it waited for an inner call: a refusal now says nothing about that. */
  mayHaveHappened: boolean;
  /** A pure call needs no intent: its row is written when it ends. */
  isDeferred: boolean;
  /** `execute` was entered: from here on something may have happened outside. */
  executed: boolean;
  /** A try that was inside was cut off, so what it did is not known, however soon it ends after that. */
  cutInside: boolean;
  tries: number;
  keyRead: boolean;
  /** Every failed try so far said that nothing happened. */
  harmless: boolean;
  /** The stored form of the output, before redaction. */
  outputJson: string | undefined;
  costUsd: number;
  /** Where its cost is stored, if the run has a budget for it. */
  spending: Spending | undefined;
  isolation: string | null;
  /** The request of an inner call that waits. */
  innerPending: ApprovalRow | undefined;
  /** Where the time budget of the run ends this call, by the monotonic clock. */
  wallDeadlineMs: number | undefined;
  /** How often it has waited for calls in flight that may open the breaker. */
  breakerWaits: number;
  /** How often it has waited for budgets that calls of other processes hold. */
  budgetWaits: number;
  /** To wait for a place or a budget would be to wait for itself: it uses those of the calls that wait for it. */
  mustNotWait: boolean;
  /** What equal calls share its answer under; made once, since making it is the author's code. */
  cacheKey: CacheKey | undefined;
  /** It was let in to see whether a failing tool works again. */
  isProbe: boolean;
  /** The only trace of an effect that is known to have happened, found on record. */
  lateJson: string | null;
  note: string | undefined;
}

export function newProgress(): Progress {
  return {
    row: undefined,
    approval: undefined,
    approvedBefore: false,
    approvalId: null,
    editedArgsJson: null,
    begun: false,
    isReentry: false,
    mayHaveHappened: false,
    isDeferred: false,
    executed: false,
    cutInside: false,
    tries: 0,
    keyRead: false,
    harmless: true,
    outputJson: undefined,
    costUsd: 0,
    spending: undefined,
    isolation: null,
    innerPending: undefined,
    wallDeadlineMs: undefined,
    breakerWaits: 0,
    budgetWaits: 0,
    mustNotWait: false,
    cacheKey: undefined,
    isProbe: false,
    lateJson: null,
    note: undefined,
  };
}
