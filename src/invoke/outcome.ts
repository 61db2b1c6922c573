/** The outcome of a call. Expected outcomes, such as pending and denied, are values and not exceptions. */
import type { ToolwrightError } from "../errors.ts";
import type { ApprovalRow } from "../store/tables/approvals.ts";
import type { Approval } from "./approval.ts";

export type Outcome<Output = unknown> =
  | {
      readonly status: "success";
      readonly output: Output;
      /** `null` outside any run. */
      readonly key: string | null;
      /** The stored result was returned, and nothing ran. */
      readonly replayed: boolean;
      readonly fromCache: boolean;
      /** A note for the model, for example that the result is from an earlier attempt. */
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

/**
 * The result that a policy returns to the enclosing policy. The journal stores it; `invoke` converts it to the caller's
 * `Outcome`.
 */
export type Result =
  | {
      readonly kind: "success";
      readonly output: unknown;
      readonly fromCache?: boolean;
      readonly replayed?: boolean;
    }
  | { readonly kind: "error"; readonly error: ToolwrightError; readonly replayed?: boolean }
  /** Interrupted by its run: not an outcome, and never replayed. */
  | { readonly kind: "interrupted"; readonly error: ToolwrightError }
  | { readonly kind: "pending"; readonly approval: ApprovalRow }
  /** The enclosing loop suspended the call inside the tool, and enters it again later. `thrown` is for that loop. */
  | { readonly kind: "suspended"; readonly thrown: unknown }
  | { readonly kind: "denied"; readonly approval: ApprovalRow; readonly replayed?: boolean }
  /** A stored result of an earlier attempt, or of another call with the same business key. */
  | {
      readonly kind: "recorded";
      readonly outputJson: string;
      readonly attempt: number;
      /** The result of another call with the same business key. */
      readonly isElsewhere?: boolean;
    }
  /** In `check` mode: the call does not need to wait for approval. */
  | { readonly kind: "clear" };
