/** How a call ended. Expected ends, pending and denied among them, are values and not exceptions. */
import type { ToolwrightError } from "../errors.ts";
import type { ApprovalRow } from "../store/tables/approvals.ts";
import type { Approval } from "./approval.ts";

export type Outcome<Output = unknown> =
  | {
      readonly status: "success";
      readonly output: Output;
      /** `null` outside any run. */
      readonly key: string | null;
      /** The effect was on record, and nothing was run now. */
      readonly replayed: boolean;
      readonly fromCache: boolean;
      /** What the model should know about this result, for example that it is from an earlier attempt. */
      readonly note?: string | undefined;
    }
  | {
      readonly status: "error";
      readonly error: ToolwrightError;
      readonly key: string | null;
      readonly replayed: boolean;
    }
  | { readonly status: "pending"; readonly approval: Approval; readonly key: string | null }
  | {
      readonly status: "denied";
      readonly approval: Approval;
      readonly error: ToolwrightError;
      readonly key: string | null;
      readonly replayed: boolean;
    };

/** What policies hand up to each other. The journal stores it; `invoke` makes the caller's `Outcome` of it. */
export type Result =
  | {
      readonly kind: "success";
      readonly output: unknown;
      readonly fromCache?: boolean;
      readonly replayed?: boolean;
    }
  | { readonly kind: "error"; readonly error: ToolwrightError; readonly replayed?: boolean }
  /** Cut off by its run: not an outcome of its own, never replayed. */
  | { readonly kind: "cut"; readonly error: ToolwrightError }
  | { readonly kind: "pending"; readonly approval: ApprovalRow }
  /** The loop around the call stopped it inside the tool, and enters it again later. `thrown` is for that loop. */
  | { readonly kind: "suspended"; readonly thrown: unknown }
  | { readonly kind: "denied"; readonly approval: ApprovalRow; readonly replayed?: boolean }
  /** The effect is on record, from an earlier attempt or from another call with the same business key. */
  | {
      readonly kind: "recorded";
      readonly outputJson: string;
      readonly attempt: number;
      /** It is the result of another call, under the same business key. */
      readonly isElsewhere?: boolean;
    }
  /** Asked only whether it may run: it may, or it would answer at once. */
  | { readonly kind: "clear" };
