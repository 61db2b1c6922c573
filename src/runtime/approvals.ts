/** Settles approval requests, from any process. Each has one decision, which counts for the arguments that were shown. */
import { ToolwrightError } from "../errors.ts";
import { type Approval, toApproval } from "../invoke/approval.ts";
import { decodeContract, problemsWith } from "../invoke/approvals/contract.ts";
import type { RunKind } from "../invoke/events.ts";
import type { Host } from "../invoke/host.ts";
import { holdsMark, mask } from "../invoke/redact.ts";
import {
  markMeasured,
  denyEqualRequests,
  type ApprovalFilter,
  type ApprovalRow,
  listApprovals,
  readApproval,
  settleApproval,
  voidEqualQuestions,
} from "../store/tables/approvals.ts";
import { markReady } from "../store/tables/queue.ts";
import { readScope } from "../store/tables/scopes.ts";
import type { Transaction } from "../store/store.ts";
import { traceOfRequest } from "../store/tables/traces.ts";
import { hasTurns } from "../store/tables/turns.ts";
import { isWorkflowRun } from "../store/tables/workflow-runs.ts";
import { callText } from "../definition/call-key.ts";
import { encode } from "../util/encode.ts";
import { sha256 } from "../util/hash.ts";
import { toShortText } from "../terminal/readable.ts";
import { type ApprovalDecision, resolutionOf, verdictOn } from "../invoke/approvals/decision.ts";

export type { ApprovalDecision } from "../invoke/approvals/decision.ts";

export async function readApprovals(
  host: Pick<Host, "store" | "clock">,
  filter: ApprovalFilter,
): Promise<Approval[]> {
  const rows = await host.store.read(() => listApprovals(filter, host.clock.now()));
  return rows.map(toApproval);
}

export async function decideApproval(host: Host, id: string, decision: ApprovalDecision): Promise<Approval> {
  const now = host.clock.now();
  const { row, kind, trace } = await host.store.transaction(function* () {
    const current = yield* readApproval(id, now);
    assertOpen(current, id, decision);
    const { approved, happened } = verdictOn(current, decision);
    if (happened !== undefined) assertOutput(current, happened.output);
    yield* settleApproval(id, {
      status: approved ? "approved" : "denied",
      decidedAtMs: now,
      decidedBy: decision.decidedBy ?? null,
      comment: decision.comment ?? null,
      approvedArgsJson: decision.approvedArgs === undefined ? null : encode(decision.approvedArgs),
      approvedHash:
        decision.approvedArgs === undefined ? null : yield* hashOf(current, decision.approvedArgs),
      outputJson: happened === undefined ? null : reportedOutput(host, current, happened.output),
    });
    if (host.telemetry?.isMeasured() === true) yield* markMeasured(id);
    const settled = yield* readApproval(id, now);
    if (settled?.status === "denied" && settled.kind === "call") yield* denyEqualRequests(settled);
    if (settled?.status === "approved" && settled.kind === "replay") yield* voidEqualQuestions(settled);
    yield* markReady(current.runId);
    // Only telemetry asks for it.
    const earlier = host.telemetry === undefined ? null : yield* traceOfRequest(current);
    return { row: settled, kind: yield* kindOfRun(current.runId), trace: earlier };
  }, "full");
  if (row === undefined) throw notFound(id);
  const approval = toApproval(row);
  const { runId, nodeId, iteration, toolName } = row;
  const isApproved = row.status === "approved";
  const span = host.telemetry?.open({
    type: "decision",
    place: { runId, kind, nodeId, iteration },
    toolName,
  });
  if (trace !== null) span?.link({ trace, reason: "request" });
  span?.end({ status: isApproved ? "approved" : "denied" });
  host.emit({
    type: "approval-settled",
    approvalId: id,
    runId,
    kind,
    nodeId,
    iteration,
    approved: isApproved,
    waitedMs: Math.max(0, now - row.requestedAtMs),
    resolution: approval.resolution,
    at: now,
  });
  return approval;
}

/** Reads the run from the store: the deciding process may not have run it. */
function* kindOfRun(runId: string): Transaction<RunKind> {
  if (yield* isWorkflowRun(runId)) return "workflow";
  return (yield* hasTurns(runId)) ? "agent" : "program";
}

/** The hash that a later attempt derives if it requests the edited arguments. */
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
  const details = {
    approvalId: id,
    status: row.status,
    decidedBy: row.decidedBy,
    decidedAtMs: row.decidedAtMs,
    resolution: resolutionOf(row) ?? null,
  };
  if (row.status === "expired") {
    throw new ToolwrightError(
      "TOOL_APPROVAL_EXPIRED",
      `The request ${id} has expired, so it can no longer be decided.`,
      { details },
    );
  }
  if (row.status === "void") {
    throw new ToolwrightError(
      "TOOL_APPROVAL_SETTLED",
      `The request ${id} is "void": its run was cancelled, its task has ended, or a newer request has replaced it. It cannot be decided.`,
      { details },
    );
  }
  if (row.status !== "pending") {
    const by = row.decidedBy === null ? "" : ` by ${toShortText(row.decidedBy, 100)}`;
    const at = row.decidedAtMs === null ? "" : ` at ${new Date(row.decidedAtMs).toISOString()}`;
    const what = details.resolution === null ? "" : ` (${details.resolution})`;
    throw new ToolwrightError(
      "TOOL_APPROVAL_SETTLED",
      `The request ${id} is already "${row.status}"${what}: it was decided${by}${at}.`,
      { details },
    );
  }
  if (decision.argsHash !== undefined && decision.argsHash !== row.argsHash) {
    throw new ToolwrightError(
      "TOOL_APPROVAL_MISMATCH",
      `The decision on ${id} was made for different arguments.`,
      {
        details,
        hint: "Read the request again, check its arguments, and decide with its argsHash. The request stays open.",
      },
    );
  }
  if (decision.approvedArgs !== undefined) assertArguments(row, decision.approvedArgs);
}

/** Checks the arguments against the contract in the request, so that any process can refuse them immediately. */
function assertArguments(row: ApprovalRow, args: unknown): void {
  const contract = decodeContract(row.contractJson);
  const details = { approvalId: row.id, tool: row.toolName };
  // Edited arguments are stored until the call runs, so a secret may only appear in them as its mark.
  if (encode(mask(args, contract.redactInput, "")) !== encode(args)) {
    throw new ToolwrightError(
      "TOOL_INPUT_REDACTED",
      `The fields ${contract.redactInput.join(", ")} of "${row.toolName}" are redacted and cannot be edited; leave their marks as they are.`,
      { details, effect: "none" },
    );
  }
  // A mark replaces a value that is not known here; the call itself validates all arguments.
  if (holdsMark(encode(args))) return;
  const problems = problemsWith(contract.input, args, "the arguments");
  if (problems === undefined) return;
  throw new ToolwrightError(
    "TOOL_INPUT_INVALID",
    `The edited arguments are not valid for "${row.toolName}": ${problems}. The request stays open.`,
    { details, effect: "none", hint: "Correct the named fields of approvedArgs, and decide again." },
  );
}

/** A reported output must match the output schema of the tool. */
function assertOutput(row: ApprovalRow, output: unknown): void {
  const contract = decodeContract(row.contractJson);
  if (output === undefined && contract.output !== null && !contract.mayReturnNothing) {
    throw outputError(
      row,
      `"${row.toolName}" returns a value, so "happened" needs it as output. Expected: ${shortJson(contract.output)}`,
    );
  }
  const problems =
    contract.output === null || output === undefined
      ? undefined
      : problemsWith(contract.output, output, "the output");
  if (problems !== undefined)
    throw outputError(
      row,
      `The output is not valid for "${row.toolName}": ${problems}. Expected: ${shortJson(contract.output)}`,
    );
}

function outputError(row: ApprovalRow, problem: string): ToolwrightError {
  return new ToolwrightError("TOOL_OUTPUT_INVALID", `${problem}. The request stays open.`, {
    hint: "Report the output of the call, or use another resolution.",
    details: { approvalId: row.id, tool: row.toolName },
  });
}

const LONGEST_SCHEMA = 500;

function shortJson(schema: unknown): string {
  const text = JSON.stringify(schema);
  return text.length <= LONGEST_SCHEMA ? text : `${text.slice(0, LONGEST_SCHEMA).toWellFormed()}…`;
}

function notFound(id: string): ToolwrightError {
  return new ToolwrightError("TOOL_APPROVAL_NOT_FOUND", `There is no approval request "${id}".`, {
    details: { approvalId: id },
  });
}
