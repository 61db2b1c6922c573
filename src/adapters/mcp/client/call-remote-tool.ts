/** Calls a tool of a server: sends our idempotency key, forwards its progress, and validates its answer. */
import { isDeepStrictEqual } from "node:util";
import type { BaseToolContext } from "../../../definition/context.ts";
import { ToolwrightError } from "../../../errors.ts";
import { currentAmbient } from "../../../invoke/ambient.ts";
import { messageOf } from "../../../invoke/error-record.ts";
import { bytesOf, MAX_ANSWER_BYTES } from "./response-size.ts";
import { MCP_IDEMPOTENCY_KEY } from "../idempotency-key.ts";
import {
  type CallResult,
  callResult,
  isDisconnected,
  type McpClient,
  type RemoteTool,
} from "./mcp-client.ts";

const MAX_MESSAGE_LENGTH = 10_000;
/** The pipeline has its own timeout, which aborts the signal. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

export async function callRemoteTool(
  client: McpClient,
  tool: RemoteTool,
  args: Record<string, unknown>,
  ctx: BaseToolContext,
  maxAnswerBytes: number = MAX_ANSWER_BYTES,
): Promise<unknown> {
  if (isDisconnected(client)) throw unsent(tool);
  const { outputSchema: _checkedByUs, ...definition } = tool;
  let answer: unknown;
  const telemetry = currentAmbient()?.scope.host.telemetry;
  telemetry?.noteMcpCall();
  try {
    answer = await client.callTool(
      {
        name: tool.name,
        arguments: args,
        // The server continues the trace of the call.
        _meta: { ...telemetry?.carrier(), [MCP_IDEMPOTENCY_KEY]: ctx.idempotencyKey },
      },
      {
        signal: ctx.signal,
        timeout: NO_TIMEOUT_MS,
        toolDefinition: definition,
        onprogress: ({ message, ...numbers }: { message?: string }) => ctx.progress(message ?? "", numbers),
      },
    );
  } catch (cause) {
    telemetry?.noteMcpCall(statusCodeOf(cause));
    throw unanswered(tool, cause);
  }
  if (bytesOf(answer, maxAnswerBytes) > maxAnswerBytes) throw tooLarge(tool, maxAnswerBytes);
  const parsed = callResult.safeParse(answer);
  if (!parsed.success) throw unanswered(tool, new Error("its answer is not a tool result"));
  if (parsed.data.isError === true) throw failed(tool, parsed.data);
  return outputOf(parsed.data);
}

/** The code of a JSON-RPC error. Other errors of clients have codes that are texts. */
function statusCodeOf(cause: unknown): number | undefined {
  const code: unknown =
    typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "number" ? code : undefined;
}

/**
 * Returns the structured content alone if the content only repeats it, else both. Without structured content, returns
 * the text, or all blocks if some are not text.
 */
function outputOf({ structuredContent, content }: CallResult): unknown {
  if (structuredContent === undefined) return content.every(isText) ? textOf(content) : { content };
  const repeats = content.every((block) => isText(block) && isJsonOf(block["text"], structuredContent));
  return repeats ? structuredContent : { content, structuredContent };
}

/** The part of an output that the server's output schema describes. */
export function structuredIn(output: unknown): unknown {
  const isBoth =
    typeof output === "object" &&
    output !== null &&
    Object.keys(output).length === 2 &&
    "content" in output &&
    Array.isArray(output.content) &&
    "structuredContent" in output;
  return isBoth ? output.structuredContent : output;
}

function isJsonOf(text: unknown, value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(String(text)), value);
  } catch {
    return false;
  }
}

function isText(block: Readonly<Record<string, unknown>>): boolean {
  return block["type"] === "text" && typeof block["text"] === "string";
}

function textOf(content: CallResult["content"]): string {
  return content
    .filter(isText)
    .map((block) => String(block["text"]))
    .join("\n");
}

function unanswered(tool: RemoteTool, cause: unknown): ToolwrightError {
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `The MCP server did not answer the call of "${tool.name}": ${messageOf(cause).slice(0, MAX_MESSAGE_LENGTH)}`,
    {
      details: { tool: tool.name },
      hint: "The effect may have happened: check before you repeat the call.",
      cause,
    },
  );
}

function tooLarge(tool: RemoteTool, maxAnswerBytes: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `The MCP server answered the call of "${tool.name}" with more than ${maxAnswerBytes} bytes (maxAnswerBytes), so the answer was dropped.`,
    {
      details: { tool: tool.name, maxAnswerBytes },
      hint: "The effect has happened. Request less, for example one page, and do not repeat a side effect.",
      effect: "happened",
    },
  );
}

function unsent(tool: RemoteTool): ToolwrightError {
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `"${tool.name}" was not called: the client of its MCP server is not connected.`,
    {
      details: { tool: tool.name },
      hint: "Continue with other tools; this server is disconnected.",
      effect: "none",
    },
  );
}

/** Uses the server's message, and its hint if the error has our shape. Its claims about effects are not trusted. */
function failed(tool: RemoteTool, { structuredContent, content }: CallResult): ToolwrightError {
  const error = (structuredContent ?? parsedText(content)) as Record<string, unknown> | null | undefined;
  const message = typeof error?.["message"] === "string" ? error["message"] : textOf(content);
  const hint = error?.["next_action_hint"];
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    message === "" ? `Tool "${tool.name}" failed without a message.` : message.slice(0, MAX_MESSAGE_LENGTH),
    {
      details: { tool: tool.name, errorType: error?.["error_type"] },
      ...(typeof hint === "string" ? { hint: hint.slice(0, MAX_MESSAGE_LENGTH) } : {}),
    },
  );
}

function parsedText(content: CallResult["content"]): unknown {
  try {
    return JSON.parse(textOf(content));
  } catch {
    // Plain text, which is the message.
    return undefined;
  }
}
