/** How far a call has come, as the policies note it. A call that goes through the pipeline once more begins anew here. */
import type { ApprovalRow } from "../store/tables/approvals.ts";
import type { CacheKey } from "../store/tables/cache.ts";
import type { CallRow } from "../store/tables/calls.ts";
import type { Spending } from "./spending.ts";

/** A class, so that every call has all fields from the start, which costs least. */
export class Progress {
  /** The row of this attempt that the call goes on with, if it has one. */
  row: CallRow | undefined = undefined;
  /** The decision that the call runs on, and how it is spent. */
  approval: ApprovalRow | undefined = undefined;
  /** An approval was redeemed for this call before it became unknown: it needs no second one. */
  approvedBefore: boolean = false;
  /** The decision that this call was, or is to be, run on. */
  approvalId: string | null = null;
  /** Arguments that a person put in the place of those that were sent. */
  editedArgsJson: string | null = null;
  begun: boolean = false;
  /** It is entered again because an inner call was decided, and was counted when it began. */
  isReentry: boolean = false;
  /** An earlier try of this call was interrupted, or it waited for an inner call: a refusal now says nothing about that. */
  mayHaveHappened: boolean = false;
  /** A pure call needs no intent: its row is written when it ends. */
  isDeferred: boolean = false;
  /** `execute` was entered: from here on something may have happened outside. */
  executed: boolean = false;
  /** A try that was inside was cut off, so what it did is not known, however soon it ends after that. */
  cutInside: boolean = false;
  tries: number = 0;
  keyRead: boolean = false;
  /** Every failed try so far said that nothing happened. */
  harmless: boolean = true;
  /** The stored form of the output, before redaction. */
  outputJson: string | undefined = undefined;
  costUsd: number = 0;
  /** Where its cost is stored, if the run has a budget for it. */
  spending: Spending | undefined = undefined;
  isolation: string | null = null;
  /** The request of an inner call that waits. */
  innerPending: ApprovalRow | undefined = undefined;
  /** Where the time budget of the run ends this call, by the monotonic clock. */
  wallDeadlineMs: number | undefined = undefined;
  /** How often it has waited for calls in flight that may open the breaker. */
  breakerWaits: number = 0;
  /** How often it has waited for budgets that calls of other processes hold. */
  budgetWaits: number = 0;
  /** To wait for a place or a budget would be to wait for itself: it uses those of the calls that wait for it. */
  mustNotWait: boolean = false;
  /** What equal calls share its answer under; made once, since making it is the author's code. */
  cacheKey: CacheKey | undefined = undefined;
  /** It was let in to see whether a failing tool works again. */
  isProbe: boolean = false;
  /** The only trace of an effect that is known to have happened, found on record. */
  lateJson: string | null = null;
  note: string | undefined = undefined;
}
