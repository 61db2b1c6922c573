/** Handles one request of a client, from its key to its result. An error is the result of only this request. */
import { randomUUID } from "node:crypto";
import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from "@modelcontextprotocol/server";
import { ToolwrightError } from "../../../errors.ts";
import type { Approval } from "../../../invoke/approval.ts";
import { answersTo } from "../../../invoke/approvals/answers.ts";
import { textOfCall } from "../../../invoke/call-identity.ts";
import { specOf } from "../../../tool/create-callable.ts";
import { toToolwrightError } from "../../../invoke/error-record.ts";
import type { Outcome } from "../../../invoke/outcome.ts";
import { telemetryOf } from "../../../runtime/create-runtime.ts";
import { decideCommand } from "../../../runtime/decide-command.ts";
import type { Runtime } from "../../../runtime/runtime.ts";
import { pendingError } from "../../../tool/model-answer.ts";
import type { Tool } from "../../../tool/tool.ts";
import { MCP_IDEMPOTENCY_KEY } from "../idempotency-key.ts";
import { askClient, canAsk, questionsOf, takeAnswers } from "./ask-client.ts";
import { runIdOf, runKeyed } from "./keyed-run.ts";
import { reportCall } from "./report-call.ts";
import { toRequestState } from "./request-state.ts";
import { type Promised, toFailure, toSuccess } from "./to-result.ts";
import type { SharedRequests } from "./shared-requests.ts";
import type { RepeatableCall, WaitingCalls } from "./waiting-calls.ts";

export interface CallDesk {
  readonly runtime: Runtime;
  readonly server: McpServer;
  readonly waiting: WaitingCalls;
  readonly shared: SharedRequests;
  /** Identifies `server` among the servers of the same tools. */
  readonly connection: string;
  /** `elicit`: the user of the client may decide. `wait`: only other users of the store may. */
  readonly approvals: "elicit" | "wait";
}

export interface ToolRequest {
  readonly tool: Tool;
  readonly args: unknown;
  readonly ctx: ServerContext;
  readonly promised: Promised;
}

export async function handleCall(
  desk: CallDesk,
  request: ToolRequest,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    const key = await keyOf(desk, request);
    const report = reportCall(desk.runtime, runIdOf(key), request.ctx);
    const answer = (): Promise<CallToolResult | InputRequiredResult> => answerWithKey(desk, request, key);
    try {
      const telemetry = await telemetryOf(desk.runtime);
      const { mcpReq } = request.ctx;
      return await (telemetry === undefined
        ? answer()
        : telemetry.continueFrom({ id: mcpReq.id, carrier: mcpReq._meta }, answer));
    } finally {
      desk.waiting.release(repeatable(desk, request), key);
      await report.end();
    }
  } catch (error) {
    return toFailure(toToolwrightError(error, request.tool.name));
  }
}

async function answerWithKey(
  desk: CallDesk,
  request: ToolRequest,
  key: string,
): Promise<CallToolResult | InputRequiredResult> {
  const { tool, args, ctx, promised } = request;
  const name = JSON.stringify([key, textOfCall(specOf(tool), args, "")]);
  for (;;) {
    const outcome = await desk.shared.join(name, ctx.mcpReq.signal, (signal) =>
      runKeyed(desk.runtime, { tool, args, key, signal }),
    );
    if (outcome.status !== "pending") {
      desk.waiting.remove(repeatable(desk, request), key);
      if (outcome.status === "success") return toSuccess(outcome, key, promised);
      return toFailure(outcome.error, { [MCP_IDEMPOTENCY_KEY]: key });
    }
    const answer = await ask(desk, ctx, key);
    if (answer === "settled") continue;
    if (answer !== undefined) return answer;
    return wait(desk, request, key, outcome);
  }
}

/** `undefined` if the client cannot ask its user, or the user does not decide. */
async function ask(
  { runtime, server, approvals }: CallDesk,
  ctx: ServerContext,
  key: string,
): Promise<InputRequiredResult | "settled" | undefined> {
  if (approvals === "wait" || !canAsk(server, ctx)) return undefined;
  const questions = await questionsOf(runtime, runIdOf(key));
  const answers = await takeAnswers(runtime, questions, server, ctx);
  if (answers === "settled") return "settled";
  return answers === "put off" || questions.length === 0
    ? undefined
    : askClient(questions, await toRequestState(runtime, key));
}

function repeatable({ connection }: CallDesk, { tool, args, ctx }: ToolRequest): RepeatableCall {
  return { client: clientOf(ctx, connection), tool, args };
}

/**
 * Identifies the client: by its connection, or over HTTP by the session id of its handshake. `undefined` for a single
 * HTTP request without a session.
 */
function clientOf({ sessionId, http }: ServerContext, connection: string): string | undefined {
  const session = sessionId ?? http?.req?.headers.get("mcp-session-id") ?? undefined;
  if (session !== undefined) return `session ${session}`;
  return http === undefined ? `connection ${connection}` : undefined;
}

async function wait(
  desk: CallDesk,
  request: ToolRequest,
  key: string,
  { approval }: Extract<Outcome, { status: "pending" }>,
): Promise<CallToolResult> {
  const { tool, ctx } = request;
  if (ctx.mcpReq._meta?.[MCP_IDEMPOTENCY_KEY] === undefined) desk.waiting.add(repeatable(desk, request), key);
  return toFailure(await pending(desk.runtime, tool, approval, key), {
    [MCP_IDEMPOTENCY_KEY]: key,
    "toolwright/approval-id": approval.id,
  });
}

async function pending(
  runtime: Runtime,
  tool: Tool,
  approval: Approval,
  key: string,
): Promise<ToolwrightError> {
  const decide = await decisionCommands(runtime, approval);
  return pendingError(
    specOf(tool),
    approval,
    `${decide} Then make the same call again, with the same arguments and ` +
      `_meta {"${MCP_IDEMPOTENCY_KEY}": ${JSON.stringify(key)}}, to continue with the decision.`,
  );
}

/** The commands work in any folder, since the reader's folder is unknown. */
async function decisionCommands(runtime: Runtime, approval: Approval): Promise<string> {
  const isReplay = approval.kind === "replay";
  const commands = await Promise.all(
    answersTo(approval).map(async ({ label, words }) => {
      const command = await decideCommand(runtime, words, "anywhere");
      return command !== undefined && isReplay ? `${command} (${label})` : command;
    }),
  );
  return commands.includes(undefined)
    ? "Only the program that serves this tool can decide, since its store is in memory."
    : `An approver decides with: ${commands.join(isReplay ? "; or " : ", or ")}.`;
}

const MAX_KEY_LENGTH = 500;

/** The client's key, else the key of the call that this request continues, else a new key. */
async function keyOf(desk: CallDesk, request: ToolRequest): Promise<string> {
  const { tool, ctx } = request;
  const given = ctx.mcpReq._meta?.[MCP_IDEMPOTENCY_KEY] ?? ctx.mcpReq.requestState();
  if (given === undefined) {
    const isDecided = async (key: string): Promise<boolean> =>
      (await desk.runtime.approvals({ status: "pending", runId: runIdOf(key) })).length === 0;
    return (await desk.waiting.take(repeatable(desk, request), isDecided)) ?? randomUUID();
  }
  if (typeof given === "string" && given !== "" && given.length <= MAX_KEY_LENGTH) return given;
  throw new ToolwrightError(
    "TOOL_OPTION_INVALID",
    `_meta["${MCP_IDEMPOTENCY_KEY}"] must be a string of 1 to ${MAX_KEY_LENGTH} characters, not ${typeof given === "string" ? `one of ${given.length}` : typeof given}.`,
    { details: { tool: tool.name }, effect: "none" },
  );
}
