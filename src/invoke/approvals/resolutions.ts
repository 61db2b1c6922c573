/** The three answers to a question about an interrupted call. A bare yes or no is none of them. */
import type { ApprovalRow } from "../../store/approvals.ts";

export const APPROVAL_RESOLUTIONS = ["happened", "run-again", "give-up"] as const;
export type ApprovalResolution = (typeof APPROVAL_RESOLUTIONS)[number];

/** What each answer does, for the person who decides. */
export const RESOLUTION_LABELS: Readonly<Record<ApprovalResolution, string>> = {
  happened: "It happened: record its output and do not run it again",
  "run-again": "Run it again: if it happened, it happens twice",
  "give-up": "Give up: do not run it again; the caller reads that it may have happened",
};

/** How a request was answered. `undefined` for one that is open, or that is not about an interrupted call. */
export function resolutionOf({ kind, status, outputJson }: ApprovalRow): ApprovalResolution | undefined {
  if (kind !== "replay") return undefined;
  if (status === "denied") return "give-up";
  if (status !== "approved") return undefined;
  return outputJson === null ? "run-again" : "happened";
}
