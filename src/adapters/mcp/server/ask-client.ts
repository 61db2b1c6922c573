/**
 * Asks the user of the client for approvals, if the client supports elicitation. The answer is stored like any other
 * decision, and only the stored decision counts. Each question has the id of its approval, so that an answer cannot
 * decide another one.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  CLIENT_INFO_META_KEY,
  type Implementation,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { ToolwrightError } from "../../../errors.ts";
import type { Approval } from "../../../invoke/approval.ts";
import { APPROVAL_RESOLUTIONS, RESOLUTION_LABELS } from "../../../invoke/approvals/decision.ts";
import type { ApprovalDecision } from "../../../runtime/approvals.ts";
import type { Runtime } from "../../../runtime/runtime.ts";
import { toShownJson } from "../../../util/shown-value.ts";

const MAX_SHOWN_LENGTH = 4_000;

export function canAsk(server: McpServer, ctx: ServerContext): boolean {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  // Newer clients send their capabilities with each request, older ones when they connect.
  const elicitation = (declared ?? server.server.getClientCapabilities())?.elicitation;
  if (elicitation === undefined) return false;
  return elicitation.form !== undefined || Object.keys(elicitation).length === 0;
}

export async function questionsOf(runtime: Runtime, runId: string): Promise<Approval[]> {
  const open = await runtime.approvals({ status: "pending", runId });
  return open.filter(({ kind }) => kind !== "task");
}

/** @param requestState returned with the answer, so that the request continues the same call */
export function askClient(questions: readonly Approval[], requestState: string): InputRequiredResult {
  return inputRequired({
    inputRequests: Object.fromEntries(
      questions.map((approval) => [
        approval.id,
        inputRequired.elicit(approval.kind === "replay" ? interruptedForm(approval) : approvalForm(approval)),
      ]),
    ),
    requestState,
  });
}

function approvalForm(approval: Approval) {
  return {
    message: messageOf(approval),
    requestedSchema: {
      type: "object" as const,
      properties: {
        approved: { type: "boolean" as const, title: "Approve this call", default: true },
        comment: COMMENT,
      },
    },
  };
}

/** "Yes" could mean "it happened" or "run it again", so the user selects a named answer, without a default. */
function interruptedForm(approval: Approval) {
  const answers = APPROVAL_RESOLUTIONS.map((name) => `${name}: ${RESOLUTION_LABELS[name]}`);
  return {
    message: `${messageOf(approval)}\n\n${answers.join("\n")}`,
    requestedSchema: {
      type: "object" as const,
      properties: {
        resolution: {
          type: "string" as const,
          title: "Answer",
          description: answers.join("; "),
          enum: [...APPROVAL_RESOLUTIONS],
        },
        output: {
          type: "string" as const,
          title: "Output as JSON",
          description: "Only if it happened: the output of the call.",
        },
        comment: COMMENT,
      },
    },
  };
}

const COMMENT = { type: "string" as const, title: "Comment" };

function messageOf({ prompt, toolName, args }: Approval): string {
  return `${prompt}\n\n${toolName} ${shown(args)}`;
}

export type Answers = "none" | "settled" | "put off";

/** Stores the decisions of the client's user. */
export async function takeAnswers(
  runtime: Runtime,
  questions: readonly Approval[],
  server: McpServer,
  ctx: ServerContext,
): Promise<Answers> {
  let found: Answers = "none";
  for (const { id, kind, argsHash } of questions) {
    const answer = inputResponse(ctx.mcpReq.inputResponses, id);
    if (answer.kind !== "elicit") continue;
    if (answer.action === "cancel") return "put off";
    const { comment } = answer.content ?? {};
    const isAccepted = answer.action === "accept";
    const decision =
      kind === "replay"
        ? resolutionIn(isAccepted ? answer.content : undefined)
        : { approved: isAccepted && isApproved(answer.content) };
    // An unknown answer decides nothing.
    if (decision === undefined) return "put off";
    await settle(runtime, id, {
      ...decision,
      argsHash,
      decidedBy: `MCP client ${clientName(server, ctx)}`.trim(),
      comment: typeof comment === "string" && comment !== "" ? comment : undefined,
    });
    found = "settled";
  }
  return found;
}

type Content = Readonly<Record<string, unknown>> | undefined;

/** The field may keep its default, true. Any value other than true is a denial. */
function isApproved(content: Content): boolean {
  const approved = content?.["approved"];
  return approved === undefined || approved === true;
}

/** @throws TOOL_OUTPUT_INVALID if the output is not JSON */
function resolutionIn(content: Content): Pick<ApprovalDecision, "resolution" | "output"> | undefined {
  const resolution = APPROVAL_RESOLUTIONS.find((name) => name === content?.["resolution"]);
  if (resolution === undefined) return undefined;
  const output = content?.["output"];
  if (resolution !== "happened" || typeof output !== "string" || output.trim() === "") return { resolution };
  try {
    return { resolution, output: JSON.parse(output) as unknown };
  } catch (cause) {
    throw new ToolwrightError(
      "TOOL_OUTPUT_INVALID",
      "The output in the answer is not JSON. The request is still pending.",
      { hint: 'Make the same call again and answer with JSON, such as {"id": 7}.', cause },
    );
  }
}

async function settle(
  runtime: Runtime,
  id: string,
  decision: Parameters<Runtime["resolveToolApproval"]>[1],
): Promise<void> {
  try {
    await runtime.resolveToolApproval(id, decision);
  } catch (error) {
    // Decided elsewhere or expired: the call reports the outcome.
    if (ToolwrightError.is(error) && LATE.has(error.code)) return;
    throw error;
  }
}

const LATE: ReadonlySet<string> = new Set(["TOOL_APPROVAL_SETTLED", "TOOL_APPROVAL_EXPIRED"]);

function clientName(server: McpServer, ctx: ServerContext): string {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  const info = (envelope?.[CLIENT_INFO_META_KEY] ?? server.server.getClientVersion()) as
    | Implementation
    | undefined;
  return typeof info?.name === "string" ? info.name.slice(0, 100) : "";
}

function shown(args: unknown): string {
  const text = toShownJson(args);
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`;
}
