/** The request of a call that was denied when it was recorded, as far as its caller sees it. */
import type { ApprovalRow } from "../../store/tables/approvals.ts";
import { encode } from "../../util/encode.ts";
import type { Call } from "../call.ts";
import type { FixtureCall } from "./fixture.ts";

export function deniedApproval({ scope, spec }: Call, { approval, key, input }: FixtureCall): ApprovalRow {
  const { runId, nodeId, iteration } = scope.identity;
  return {
    id: approval?.id ?? "",
    kind: approval?.kind ?? "call",
    status: "denied",
    runId,
    nodeId,
    iteration,
    scopeId: scope.id,
    callKey: key,
    parentKey: "",
    round: 1,
    toolName: spec.name,
    fingerprint: "",
    argsJson: input === undefined ? encode(undefined) : JSON.stringify(input),
    argsHash: "",
    prompt: "",
    defaultsJson: null,
    contractJson: JSON.stringify({ input: {}, output: null, redactInput: [], redactOutput: [] }),
    requestedAtMs: 0,
    expiresAtMs: null,
    hasClearArgs: false,
    decidedAtMs: 0,
    decidedBy: null,
    comment: approval?.comment ?? null,
    approvedArgsJson: null,
    outputJson: null,
    redeemedAtMs: null,
  };
}
