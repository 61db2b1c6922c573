/** Decisions of people, from any process. Each is made once, for the arguments that were shown. */
import { ToolwrightError } from "../errors.ts";
import { type Approval, toApproval } from "../invoke/approval.ts";
import { decodeContract, problemsWith } from "../invoke/approvals/contract.ts";
import type { Host } from "../invoke/host.ts";
import { holdsMark, mask } from "../invoke/redact.ts";
import {
  denyEqualRequests,
  type ApprovalFilter,
  type ApprovalRow,
  listApprovals,
  readApproval,
  settleApproval,
} from "../store/approvals.ts";
import { readScope } from "../store/scopes.ts";
import type { Transaction } from "../store/store.ts";
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

export async function readApprovals(
  host: Pick<Host, "store" | "clock">,
  filter: ApprovalFilter,
): Promise<Approval[]> {
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
        decision.approvedArgs === undefined ? null : yield* hashOf(current, decision.approvedArgs),
      outputJson:
        decision.happened === undefined ? null : reportedOutput(host, current, decision.happened.output),
    });
    const settled = yield* readApproval(id, now);
    if (settled?.status === "denied" && settled.kind === "call") yield* denyEqualRequests(settled);
    return settled;
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

/** As a later attempt derives it that asks for the edited arguments. */
function* hashOf(request: ApprovalRow, args: unknown): Transaction<string> {
  const scope = yield* readScope(request.scopeId);
  return sha256(callText(request.toolName, args, scope?.keyVersion));
}

function reportedOutput(host: Host, row: ApprovalRow, output: unknown): string {
  return encode(mask(output, decodeContract(row.contractJson).redactOutput, host.store.secret));
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
  if (row.status === "void") {
    throw new ToolwrightError(
      "TOOL_APPROVAL_SETTLED",
      `The request ${id} is "void": its run was cancelled, its task has ended, or a newer request has replaced it. There is nothing left to decide.`,
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
  if (decision.happened !== undefined) assertOutput(row, decision.happened.output);
}

/** Checked against the contract that was recorded with the request, so that any process can say no at once. */
function assertArguments(row: ApprovalRow, args: unknown): void {
  const contract = decodeContract(row.contractJson);
  const details = { approvalId: row.id, tool: row.toolName };
  // Edited arguments are stored until the call runs: a secret may only stand there as the mark that it had.
  if (encode(mask(args, contract.redactInput, "")) !== encode(args)) {
    throw new ToolwrightError(
      "TOOL_INPUT_REDACTED",
      `The fields ${contract.redactInput.join(", ")} of "${row.toolName}" are redacted and cannot be edited; leave their marks as they are.`,
      { details, effect: "none" },
    );
  }
  // A mark stands for a value that is not known here; the call itself validates the whole.
  if (holdsMark(encode(args))) return;
  const problems = problemsWith(contract.input, args, "the arguments");
  if (problems === undefined) return;
  throw new ToolwrightError(
    "TOOL_INPUT_INVALID",
    `The edited arguments do not fit "${row.toolName}": ${problems}. The request stays open.`,
    { details, effect: "none" },
  );
}

/** What a person saw happen has to be what the tool would have returned. */
function assertOutput(row: ApprovalRow, output: unknown): void {
  const { output: schema } = decodeContract(row.contractJson);
  const problems = schema === null ? undefined : problemsWith(schema, output, "the output");
  if (problems === undefined) return;
  throw new ToolwrightError(
    "TOOL_OUTPUT_INVALID",
    `This is not what "${row.toolName}" returns: ${problems}. The request stays open.`,
    { details: { approvalId: row.id, tool: row.toolName } },
  );
}

function notFound(id: string): ToolwrightError {
  return new ToolwrightError("TOOL_APPROVAL_NOT_FOUND", `There is no approval request "${id}".`, {
    details: { approvalId: id },
  });
}
