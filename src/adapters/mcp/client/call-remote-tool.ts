/** One call of a server's tool: our key goes with it, its progress comes back, and what it answers is checked. */
import { isDeepStrictEqual } from "node:util";
import type { BaseToolContext } from "../../../definition/context.ts";
import { ToolwrightError } from "../../../errors.ts";
import { messageOf } from "../../../invoke/error-record.ts";
import { bytesOf, MAX_ANSWER_BYTES } from "./answer-size.ts";
import { MCP_IDEMPOTENCY_KEY } from "../idempotency-key.ts";
import {
  type CallResult,
  callResult,
  isDisconnected,
  type McpClient,
  type RemoteTool,
} from "./mcp-client.ts";

const LONGEST_MESSAGE = 10_000;
/** The pipeline has its own, which ends the call through the signal. */
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
  try {
    answer = await client.callTool(
      {
        name: tool.name,
        arguments: args,
        _meta: { [MCP_IDEMPOTENCY_KEY]: ctx.idempotencyKey },
      },
      {
        signal: ctx.signal,
        timeout: NO_TIMEOUT_MS,
        toolDefinition: definition,
        onprogress: ({ message, ...numbers }: { message?: string }) => ctx.progress(message ?? "", numbers),
      },
    );
  } catch (cause) {
    throw unanswered(tool, cause);
  }
  if (bytesOf(answer, maxAnswerBytes) > maxAnswerBytes) throw tooLarge(tool, maxAnswerBytes);
  const parsed = callResult.safeParse(answer);
  if (!parsed.success) throw unanswered(tool, new Error("its answer is no result of a tool"));
  if (parsed.data.isError === true) throw failed(tool, parsed.data);
  return outputOf(parsed.data);
}

/**
 * The structured content alone where the content only repeats it, else both. Without structured content, the text, or all
 * blocks where there are others.
 */
function outputOf({ structuredContent, content }: CallResult): unknown {
  if (structuredContent === undefined) return content.every(isText) ? textOf(content) : { content };
  const repeats = content.every((block) => isText(block) && isJsonOf(block["text"], structuredContent));
  return repeats ? structuredContent : { content, structuredContent };
}

/** What of an output the server's schema of the output is about. */
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
    `The MCP server did not answer the call of "${tool.name}": ${messageOf(cause).slice(0, LONGEST_MESSAGE)}`,
    {
      details: { tool: tool.name },
      hint: "The call may have had its effect all the same: check before you repeat it.",
      cause,
    },
  );
}

function tooLarge(tool: RemoteTool, maxAnswerBytes: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `The MCP server answered the call of "${tool.name}" with more than ${maxAnswerBytes} bytes (maxAnswerBytes), which was not taken.`,
    {
      details: { tool: tool.name, maxAnswerBytes },
      hint: "The call has had its effect. Ask for less, for example for one page, and do not repeat a side effect.",
      effect: "happened",
    },
  );
}

function unsent(tool: RemoteTool): ToolwrightError {
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `"${tool.name}" was not called: the client of its MCP server is not connected.`,
    { details: { tool: tool.name }, hint: "Continue with other tools; this server is gone.", effect: "none" },
  );
}

/** In the server's own words, and with its hint, where it has one in our shape. What it says of effects is not believed. */
function failed(tool: RemoteTool, { structuredContent, content }: CallResult): ToolwrightError {
  const told = (structuredContent ?? parsedText(content)) as Record<string, unknown> | null | undefined;
  const message = typeof told?.["message"] === "string" ? told["message"] : textOf(content);
  const hint = told?.["next_action_hint"];
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    message === "" ? `Tool "${tool.name}" failed and did not say why.` : message.slice(0, LONGEST_MESSAGE),
    {
      details: { tool: tool.name, errorType: told?.["error_type"] },
      ...(typeof hint === "string" ? { hint: hint.slice(0, LONGEST_MESSAGE) } : {}),
    },
  );
}

function parsedText(content: CallResult["content"]): unknown {
  try {
    return JSON.parse(textOf(content));
  } catch {
    // Words of its own: they are the message.
    return undefined;
  }
}
