/** An approval request as callers see it: decoded, and without what only the store needs. */
import type { ApprovalKind, ApprovalRow, ApprovalStatus } from "../store/approvals.ts";
import { decode } from "../util/encode.ts";

export interface Approval {
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly status: ApprovalStatus;
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly toolName: string;
  /** The arguments as requested, redacted where the tool says so. */
  readonly args: unknown;
  readonly argsHash: string;
  readonly prompt: string;
  readonly defaults: unknown;
  readonly callKey: string;
  /** The call that this one is made inside of, if any. */
  readonly parentKey: string | undefined;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly decidedAtMs: number | undefined;
  readonly decidedBy: string | undefined;
  readonly comment: string | undefined;
  readonly approvedArgs: unknown;
}

export function toApproval(row: ApprovalRow): Approval {
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    runId: row.runId,
    nodeId: row.nodeId,
    iteration: row.iteration,
    toolName: row.toolName,
    args: decode(row.argsJson),
    argsHash: row.argsHash,
    prompt: row.prompt,
    defaults: row.defaultsJson === null ? undefined : decode(row.defaultsJson),
    callKey: row.callKey,
    parentKey: row.parentKey === "" ? undefined : row.parentKey,
    requestedAtMs: row.requestedAtMs,
    expiresAtMs: row.expiresAtMs ?? undefined,
    decidedAtMs: row.decidedAtMs ?? undefined,
    decidedBy: row.decidedBy ?? undefined,
    comment: row.comment ?? undefined,
    approvedArgs: row.approvedArgsJson === null ? undefined : decode(row.approvedArgsJson),
  };
}
