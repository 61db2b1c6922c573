/**
 * Approvals by the client's own person, where the client can ask one. The answer is written to the store like any other
 * decision, and only what stands there counts. Questions are named by the id of their request, so that an answer
 * never settles another one.
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
import type { Runtime } from "../../../runtime/runtime.ts";

const LONGEST_SHOWN = 4_000;

export function canAsk(server: McpServer, ctx: ServerContext): boolean {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  // Newer clients say with each request what they can do, older ones when they connect.
  const elicitation = (declared ?? server.server.getClientCapabilities())?.elicitation;
  if (elicitation === undefined) return false;
  return elicitation.form !== undefined || Object.keys(elicitation).length === 0;
}

/** Those that the client's person can decide with a yes or a no. An interrupted call needs more than that. */
export async function questionsOf(runtime: Runtime, runId: string): Promise<Approval[]> {
  const open = await runtime.approvals({ status: "pending", runId });
  return open.filter(({ kind }) => kind === "call");
}

/** @param key comes back with the answer, so that the same request goes on */
export function askClient(questions: readonly Approval[], key: string): InputRequiredResult {
  return inputRequired({
    inputRequests: Object.fromEntries(
      questions.map((approval) => [
        approval.id,
        inputRequired.elicit({
          message: `${approval.prompt}\n\n${approval.toolName} ${shown(approval.args)}`,
          requestedSchema: {
            type: "object",
            properties: {
              approved: { type: "boolean", title: "Approve this call", default: true },
              comment: { type: "string", title: "Comment" },
            },
          },
        }),
      ]),
    ),
    requestState: key,
  });
}

export type Answers = "none" | "settled" | "put off";

/** Writes down what the client's person has answered. */
export async function takeAnswers(
  runtime: Runtime,
  questions: readonly Approval[],
  server: McpServer,
  ctx: ServerContext,
): Promise<Answers> {
  let found: Answers = "none";
  for (const { id, argsHash } of questions) {
    const answer = inputResponse(ctx.mcpReq.inputResponses, id);
    if (answer.kind !== "elicit") continue;
    if (answer.action === "cancel") return "put off";
    const { approved, comment } = answer.content ?? {};
    await settle(runtime, id, {
      // The form's field may be left as it was; whatever is no yes in it is a no.
      approved: answer.action === "accept" && (approved === undefined || approved === true),
      argsHash,
      decidedBy: `MCP client ${clientName(server, ctx)}`.trim(),
      comment: typeof comment === "string" && comment !== "" ? comment : undefined,
    });
    found = "settled";
  }
  return found;
}

async function settle(
  runtime: Runtime,
  id: string,
  decision: Parameters<Runtime["resolveToolApproval"]>[1],
): Promise<void> {
  try {
    await runtime.resolveToolApproval(id, decision);
  } catch (error) {
    // Somebody else was faster, or the time is over: the call itself says what became of it.
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
  const text = JSON.stringify(args) ?? "";
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}…`;
}
