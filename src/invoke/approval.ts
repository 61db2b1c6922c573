/** The public form of an approval request: decoded, without the columns that only the store needs. */
import type { ApprovalStatus } from "../store/run-words.ts";
import type { ApprovalKind, ApprovalRow } from "../store/tables/approvals.ts";
import type { JsonSchema } from "../definition/json-schema.ts";
import { decode } from "../util/encode.ts";
import { decodeContract } from "./approvals/contract.ts";
import { type ApprovalResolution, resolutionOf } from "./approvals/decision.ts";

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
  /** The key of the enclosing call, if any. */
  readonly parentKey: string | undefined;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly decidedAtMs: number | undefined;
  readonly decidedBy: string | undefined;
  readonly comment: string | undefined;
  readonly approvedArgs: unknown;
  /** The resolution of an interrupted call (`kind: "replay"`). */
  readonly resolution: ApprovalResolution | undefined;
  /** For `kind: "replay"`: the JSON Schema of the call's output. `undefined` if the output may be anything, or nothing. */
  readonly outputSchema: JsonSchema | undefined;
}

function expectedOutput({ contractJson }: ApprovalRow): JsonSchema | undefined {
  const { output, mayReturnNothing } = decodeContract(contractJson);
  return output === null || mayReturnNothing ? undefined : output;
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
    resolution: resolutionOf(row),
    outputSchema: row.kind === "replay" ? expectedOutput(row) : undefined,
  };
}
