/** Decisions of people, from any process. Each is made once, for the arguments that were shown. */
import { z } from "zod";
import { ToolwrightError } from "../errors.ts";
import { type Approval, toApproval } from "../invoke/approval.ts";
import type { Host } from "../invoke/host.ts";
import {
  type ApprovalFilter,
  type ApprovalRow,
  listApprovals,
  readApproval,
  settleApproval,
} from "../store/approvals.ts";
import { callText } from "../definition/call-key.ts";
import { encode } from "../util/encode.ts";
import { sha256 } from "../util/hash.ts";

export interface ApprovalDecision {
  readonly approved: boolean;
  /** What to run in the place of the requested arguments. Validated; a redaction mark means the original value. */
  readonly approvedArgs?: unknown;
  readonly decidedBy?: string | undefined;
  readonly comment?: string | undefined;
  /** For an interrupted call that was approved: it has happened, with this output, and is not run again. */
  readonly happened?: { readonly output: unknown } | undefined;
  /** If given, the decision counts only for exactly these arguments. */
  readonly argsHash?: string | undefined;
}

export async function readApprovals(host: Host, filter: ApprovalFilter): Promise<Approval[]> {
  const rows = await host.store.read(() => listApprovals(filter, host.clock.now()));
  return rows.map(toApproval);
}

export async function decideApproval(host: Host, id: string, decision: ApprovalDecision): Promise<Approval> {
  if (typeof decision?.approved !== "boolean") {
    throw new ToolwrightError(
      "TOOL_OPTION_INVALID",
      "A decision needs `approved: true` or `approved: false`.",
    );
  }
  const now = host.clock.now();
  const row = await host.store.transaction(function* () {
    const current = yield* readApproval(id, now);
    assertOpen(current, id, decision);
    yield* settleApproval(id, {
      status: decision.approved ? "approved" : "denied",
      decidedAtMs: now,
      decidedBy: decision.decidedBy ?? null,
      comment: decision.comment ?? null,
      approvedArgsJson: decision.approvedArgs === undefined ? null : encode(decision.approvedArgs),
      approvedHash:
        decision.approvedArgs === undefined
          ? null
          : sha256(callText(current.toolName, decision.approvedArgs)),
      outputJson: decision.happened === undefined ? null : encode(decision.happened.output),
    });
    return yield* readApproval(id, now);
  }, "full");
  if (row === undefined) throw notFound(id);
  host.emit({
    type: "approval-settled",
    approvalId: id,
    runId: row.runId,
    approved: decision.approved,
    at: now,
  });
  return toApproval(row);
}

function assertOpen(
  row: ApprovalRow | undefined,
  id: string,
  decision: ApprovalDecision,
): asserts row is ApprovalRow {
  if (row === undefined) throw notFound(id);
  const details = { approvalId: id, status: row.status };
  if (row.status === "expired") {
    throw new ToolwrightError(
      "TOOL_APPROVAL_EXPIRED",
      `The request ${id} has expired; the decision comes too late.`,
      { details },
    );
  }
  if (row.status !== "pending") {
    throw new ToolwrightError("TOOL_APPROVAL_SETTLED", `The request ${id} is "${row.status}" already.`, {
      details,
    });
  }
  if (decision.argsHash !== undefined && decision.argsHash !== row.argsHash) {
    throw new ToolwrightError(
      "TOOL_APPROVAL_MISMATCH",
      `The decision on ${id} was made for other arguments.`,
      { details },
    );
  }
  if (decision.happened !== undefined && row.kind !== "replay") {
    throw new ToolwrightError(
      "TOOL_OPTION_INVALID",
      `The request ${id} is about a call that has not begun; it cannot have happened.`,
      { details },
    );
  }
  if (decision.approvedArgs !== undefined) assertArguments(row, decision.approvedArgs);
}

/** Checked against the schema that was recorded with the request, so that any process can say no at once. */
function assertArguments(row: ApprovalRow, args: unknown): void {
  const text = JSON.stringify(args) ?? "";
  // A mark stands for a value that is not known here; the call itself validates the whole.
  if (row.inputSchemaJson === null || text.includes("[redacted sha256:")) return;
  const schema = z.fromJSONSchema(JSON.parse(row.inputSchemaJson));
  const parsed = schema.safeParse(args);
  if (parsed.success) return;
  const problems = parsed.error.issues.map(
    (issue) => `${issue.path.join(".") || "the arguments"}: ${issue.message}`,
  );
  throw new ToolwrightError(
    "TOOL_INPUT_INVALID",
    `The edited arguments do not fit "${row.toolName}": ${problems.join("; ")}. The request stays open.`,
    { details: { approvalId: row.id, tool: row.toolName }, effect: "none" },
  );
}

function notFound(id: string): ToolwrightError {
  return new ToolwrightError("TOOL_APPROVAL_NOT_FOUND", `There is no approval request "${id}".`, {
    details: { approvalId: id },
  });
}
