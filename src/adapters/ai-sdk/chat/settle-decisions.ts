/**
 * Stores the decisions that a client sends with the last message. Only a caller that may decide does so, for the arguments
 * that were shown, once. Decisions in older messages do not count.
 */
import type { UIMessage } from "ai";
import { callText } from "../../../definition/call-key.ts";
import { fromObjectInput } from "../../../definition/object-schema.ts";
import { ToolwrightError } from "../../../errors.ts";
import type { Approval } from "../../../invoke/approval.ts";
import type { Runtime } from "../../../runtime/runtime.ts";
import { carriesSpec, specOfCopy } from "../../../tool/copied-tool.ts";
import { sha256 } from "../../../util/hash.ts";
import { ChatError } from "./chat-error.ts";

export interface ChatIdentity {
  /** Stored as `decidedBy` of the approvals that the caller decides. */
  readonly name: string;
  /** Default: false. */
  readonly canDecide?: boolean | undefined;
}

interface Decision {
  readonly approvalId: string;
  readonly approved: boolean;
  readonly reason: string | undefined;
  readonly toolName: string;
  readonly input: unknown;
}

/** @throws ChatError, TOOL_APPROVAL_SETTLED, TOOL_APPROVAL_EXPIRED */
export async function settleDecisions(
  runtime: Runtime,
  chatId: string,
  message: UIMessage,
  identity: ChatIdentity,
  tools: Readonly<Record<string, unknown>>,
): Promise<void> {
  const decisions = decisionsIn(message);
  if (decisions.length === 0) return;
  const requests = await runtime.approvals({ runId: chatId });
  for (const decision of decisions) {
    const request = requests.find(({ id }) => id === decision.approvalId);
    if (request === undefined) throw unknownRequest(decision.approvalId);
    if (isSettledAlike(request, decision)) continue;
    if (request.status === "pending" && identity.canDecide !== true) throw mayNotDecide(identity);
    assertSameArguments(request, decision, tools);
    const settling = runtime.resolveToolApproval(request.id, {
      approved: decision.approved,
      argsHash: request.argsHash,
      decidedBy: identity.name,
      ...(decision.reason === undefined ? {} : { comment: decision.reason }),
    });
    await settling.catch((error: unknown) => {
      if (!wasSettledAlike(error, decision)) throw error;
    });
  }
}

function decisionsIn(message: UIMessage): Decision[] {
  return (message.parts as readonly Readonly<Record<string, unknown>>[]).flatMap((part) => {
    const { type, state, toolName, input, approval } = part;
    if (state !== "approval-responded" || typeof approval !== "object" || approval === null) return [];
    const { id, approved, reason } = approval as Readonly<Record<string, unknown>>;
    if (typeof id !== "string" || typeof approved !== "boolean") return [];
    const name = typeof toolName === "string" ? toolName : String(type).replace(/^tool-/, "");
    return [
      {
        approvalId: id,
        approved,
        reason: typeof reason === "string" ? reason : undefined,
        toolName: name,
        input,
      },
    ];
  });
}

/** Another tab made the same decision at the same time. */
function wasSettledAlike(error: unknown, decision: Decision): boolean {
  if (!ToolwrightError.is(error) || error.code !== "TOOL_APPROVAL_SETTLED") return false;
  return isSettledAlike(error.details as Pick<Approval, "status">, decision);
}

/** The same request again, for example after a lost connection. */
function isSettledAlike({ status }: Pick<Approval, "status">, { approved }: Decision): boolean {
  return status === (approved ? "approved" : "denied");
}

/** The client shows the arguments of its message, so the decision is about those. */
function assertSameArguments(
  request: Approval,
  { toolName, input }: Decision,
  tools: Readonly<Record<string, unknown>>,
): void {
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  const args = carriesSpec(tool) ? fromObjectInput(specOfCopy(tool).inputJsonSchema, input) : input;
  if (sha256(callText(request.toolName, args)) === request.argsHash) return;
  throw new ChatError(
    409,
    "TOOL_APPROVAL_MISMATCH",
    `The decision on ${request.id} was made for different arguments.`,
    "Reload the chat, and decide again.",
  );
}

function unknownRequest(id: string): ChatError {
  return new ChatError(
    404,
    "TOOL_APPROVAL_NOT_FOUND",
    `This chat has no approval request "${id}".`,
    "Reload the chat.",
  );
}

function mayNotDecide({ name }: ChatIdentity): ChatError {
  return new ChatError(
    403,
    "CHAT_MAY_NOT_DECIDE",
    `"${name}" is not allowed to decide approval requests.`,
    "Ask someone who is. `authorize` returns { canDecide: true } for approvers.",
  );
}
