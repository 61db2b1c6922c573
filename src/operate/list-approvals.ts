/** Approval requests as a form shows them: with the arguments, the schema that an edit must match, and the answers. */
import { type Approval, toApproval } from "../invoke/approval.ts";
import { decodeContract } from "../invoke/approvals/contract.ts";
import { APPROVAL_RESOLUTIONS, type ApprovalResolution } from "../invoke/approvals/decision.ts";
import type { JsonSchema } from "../definition/json-schema.ts";
import { ToolwrightError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import {
  type ApprovalFilter,
  type ApprovalRow,
  listApprovals,
  readApproval,
} from "../store/tables/approvals.ts";
import { systemClock } from "../util/clock.ts";

export interface ShownApproval extends Omit<Approval, "expiresAtMs" | "outputSchema"> {
  /** The JSON Schema of the arguments. `null` where they cannot be edited. */
  readonly schema: JsonSchema | null;
  /** The JSON Schema of the output that `happened` takes. `null` if it may be anything, or nothing. */
  readonly outputSchema: JsonSchema | null;
  readonly expiresAtMs: number | null;
  /** The answers to a request about an interrupted call. `null`: it takes approved: true or false. */
  readonly resolutions: readonly ApprovalResolution[] | null;
}

/** Oldest first. */
export async function listShownApprovals(
  store: Store,
  filter: ApprovalFilter = {},
): Promise<ShownApproval[]> {
  const rows = await store.read(() => listApprovals(filter, systemClock.now()));
  return rows.map(toShownApproval);
}

/** @throws TOOL_APPROVAL_NOT_FOUND */
export async function readShownApproval(store: Store, id: string): Promise<ShownApproval> {
  const row = await store.read(() => readApproval(id, systemClock.now()));
  if (row !== undefined) return toShownApproval(row);
  throw new ToolwrightError("TOOL_APPROVAL_NOT_FOUND", `There is no approval request "${id}".`, {
    details: { approvalId: id },
  });
}

function toShownApproval(row: ApprovalRow): ShownApproval {
  const approval = toApproval(row);
  const isEditable = row.kind === "call";
  return {
    ...approval,
    schema: isEditable ? (decodeContract(row.contractJson).input ?? null) : null,
    outputSchema: approval.outputSchema ?? null,
    expiresAtMs: approval.expiresAtMs ?? null,
    resolutions: row.kind === "replay" ? APPROVAL_RESOLUTIONS : null,
  };
}
