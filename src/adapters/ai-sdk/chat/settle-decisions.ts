/**
 * Stores the decisions that a client sends with the last message. Only a caller that may decide does so, for the arguments
 * that were shown, once. Decisions in older messages do not count.
 */
import type { UIMessage } from "ai";
import { callText, KEY_VERSION } from "../../../definition/call-key.ts";
import { fromObjectInput } from "../../../definition/object-schema.ts";
import { ToolwrightError } from "../../../errors.ts";
import type { Approval } from "../../../invoke/approval.ts";
import { textOfCall } from "../../../invoke/call-identity.ts";
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

/** What the client's calls are compared with. */
interface ShownTools {
  /** By the names that the model knows. */
  readonly tools: Readonly<Record<string, unknown>>;
  /** Of the store: the hashes of redacted arguments are keyed. */
  readonly secret: string;
}

/** @throws ChatError, TOOL_APPROVAL_SETTLED, TOOL_APPROVAL_EXPIRED */
export async function settleDecisions(
  runtime: Runtime,
  chatId: string,
  message: UIMessage,
  identity: ChatIdentity,
  { tools, secret }: ShownTools,
): Promise<void> {
  const decisions = decisionsIn(message);
  if (decisions.length === 0) return;
  const requests = await runtime.approvals({ runId: chatId });
  for (const decision of decisions) {
    const request = requests.find(({ id }) => id === decision.approvalId);
    if (request === undefined) throw unknownRequest(decision.approvalId);
    if (isSettledAlike(request, decision)) continue;
    if (request.status === "pending" && identity.canDecide !== true) throw mayNotDecide(identity);
    assertSameArguments(request, decision, { tools, secret });
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
function assertSameArguments(request: Approval, { toolName, input }: Decision, shown: ShownTools): void {
  // The chat shows the call around it, whose arguments say little about those of the call that waits.
  if (request.parentKey !== undefined) throw shownElsewhere(request);
  if (hashesOf(request, toolName, input, shown).includes(request.argsHash)) return;
  throw new ChatError(
    409,
    "TOOL_APPROVAL_MISMATCH",
    `The decision on ${request.id} was made for different arguments.`,
    "Reload the chat, and decide again.",
  );
}

/** A run that an earlier version began has an earlier version of keys. */
function hashesOf(
  request: Approval,
  shownName: string,
  input: unknown,
  { tools, secret }: ShownTools,
): string[] {
  const tool = Object.hasOwn(tools, shownName) ? tools[shownName] : undefined;
  if (!carriesSpec(tool)) return [sha256(callText(request.toolName, input))];
  const spec = specOfCopy(tool, true);
  const args = fromObjectInput(spec.inputJsonSchema, input);
  return ([KEY_VERSION, 1] as const).map((version) => sha256(textOfCall(spec, args, secret, version)));
}

function shownElsewhere({ id, toolName }: Approval): ChatError {
  return new ChatError(
    409,
    "TOOL_APPROVAL_MISMATCH",
    `Request ${id} is about a call of "${toolName}" inside of the call that this chat shows.`,
    `Decide it where its arguments are shown: toolwright approve ${id}, or the page of toolwright serve. Then reload the chat.`,
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
