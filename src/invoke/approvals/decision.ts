/** Checks that a decision fits its request, and refuses ambiguous decisions. */
import { aBoolean, anything, aText, type Check, fields, oneOf } from "../../definition/option-checks.ts";
import { ToolwrightError } from "../../errors.ts";
import type { ApprovalKind, ApprovalRow } from "../../store/tables/approvals.ts";

/** The three resolutions of an interrupted call. `approved` alone is not one of them. */
export const APPROVAL_RESOLUTIONS = ["happened", "run-again", "give-up"] as const;
export type ApprovalResolution = (typeof APPROVAL_RESOLUTIONS)[number];

/** The effect of each resolution, explained to the approver. */
export const RESOLUTION_LABELS: Readonly<Record<ApprovalResolution, string>> = {
  happened: "It happened: record its output and do not run it again",
  "run-again": "Run it again: if it happened, it happens twice",
  "give-up": "Give up: do not run it again; the caller reads that it may have happened",
};

/** The resolution of a request. `undefined` if it is pending, or not about an interrupted call. */
export function resolutionOf({ kind, status, outputJson }: ApprovalRow): ApprovalResolution | undefined {
  if (kind !== "replay") return undefined;
  if (status === "denied") return "give-up";
  if (status !== "approved") return undefined;
  return outputJson === null ? "run-again" : "happened";
}

export interface ApprovalDecision {
  /** Whether the call or the task may run. A request about an interrupted call takes `resolution` instead. */
  readonly approved?: boolean | undefined;
  /**
   * The resolution of an interrupted call (`kind: "replay"`). `"happened"`: it happened, with `output`, and does not run
   * again. `"run-again"`: it runs again. `"give-up"`: it does not run again and ends as denied.
   */
  readonly resolution?: ApprovalResolution | undefined;
  /** With `resolution: "happened"`: what the call returned. */
  readonly output?: unknown;
  /** Arguments that replace the requested ones. They are validated; a redaction mark means the original value. */
  readonly approvedArgs?: unknown;
  readonly decidedBy?: string | undefined;
  readonly comment?: string | undefined;
  /** The older form of `resolution: "happened"`, together with `approved: true`. */
  readonly happened?: { readonly output: unknown } | undefined;
  /** If set, the decision counts only for exactly these arguments. */
  readonly argsHash?: string | undefined;
}

/** The fields of a decision, wherever one is taken. */
export const DECISION_CHECKS = {
  approved: aBoolean,
  resolution: oneOf(...APPROVAL_RESOLUTIONS),
  output: anything,
  approvedArgs: anything,
  decidedBy: aText,
  comment: aText,
  happened: fields({ output: anything }),
  argsHash: aText,
} satisfies Record<keyof ApprovalDecision, Check>;

/** A decision that fits its request. */
export interface Verdict {
  readonly approved: boolean;
  /** Set if an interrupted call happened. */
  readonly happened: { readonly output: unknown } | undefined;
}

interface Request {
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly toolName: string;
}

/** @param decision its types were checked with `DECISION_CHECKS` @throws TOOL_OPTION_INVALID */
export function verdictOn(request: Request, decision: ApprovalDecision): Verdict {
  const { resolution, approved, happened } = decision;
  if (approved === undefined && resolution === undefined)
    throw refused(
      `A decision needs approved: true or approved: false, or, about an interrupted call, resolution: ${LISTED}.`,
    );
  if (request.kind !== "replay") {
    if (resolution !== undefined || happened !== undefined || decision.output !== undefined)
      throw invalid(
        request,
        `is not about an interrupted call: decide it with { approved: true } or { approved: false }, not with ${resolution === undefined ? "an output" : `resolution "${resolution}"`}`,
      );
    if (approved === undefined) throw invalid(request, "needs { approved: true } or { approved: false }");
    if (decision.approvedArgs !== undefined && (request.kind === "task" || !approved))
      throw invalid(
        request,
        request.kind === "task"
          ? "is about a task, which has no arguments to edit: leave approvedArgs out"
          : "takes approvedArgs only with approved: true: a denied call does not run",
      );
    return { approved, happened: undefined };
  }
  if (decision.approvedArgs !== undefined)
    throw invalid(
      request,
      `is about an interrupted call, whose arguments cannot be edited: leave approvedArgs out`,
    );
  if (approved === true && happened !== undefined && resolution === undefined)
    return { approved: true, happened };
  if (resolution === undefined || approved !== undefined || happened !== undefined) throw bare(request);
  if (resolution !== "happened" && decision.output !== undefined)
    throw invalid(request, `takes an output only with resolution "happened", not with "${resolution}"`);
  return {
    approved: resolution !== "give-up",
    happened: resolution === "happened" ? { output: decision.output } : undefined,
  };
}

const LISTED = '"happened", "run-again" or "give-up"';

/** A plain yes could mean "it happened" or "run it again": the two must never be confused. */
function bare(request: Request): ToolwrightError {
  return invalid(
    request,
    `is about an interrupted call of "${request.toolName}", and approved: true or false is ambiguous. ` +
      'Use { resolution: "happened", output } if it happened, { resolution: "run-again" } to run it again, ' +
      'or { resolution: "give-up" } to give it up',
  );
}

function invalid(request: Request, problem: string): ToolwrightError {
  return refused(`The request ${request.id} ${problem}.`, {
    approvalId: request.id,
    kind: request.kind,
    ...(request.kind === "replay" ? { resolutions: APPROVAL_RESOLUTIONS } : {}),
  });
}

function refused(message: string, details: Readonly<Record<string, unknown>> = {}): ToolwrightError {
  return new ToolwrightError("TOOL_OPTION_INVALID", message, { details });
}
