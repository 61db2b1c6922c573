/**
 * A loop that is driven from the start pauses wherever it paused before: the SDK does not know the decisions in the store. That
 * applies to `toolApproval`, and to copies of a tool with their own `needsApproval`. A response in the messages lets it continue;
 * the call itself then finds its decision.
 */
import { ToolwrightError } from "../../errors.ts";
import { isRecord } from "../../invoke/recording/hidden-values.ts";
import type { Scope } from "../../invoke/scope.ts";
import { carriesSpec } from "../../tool/copied-tool.ts";
import { requestRowOnce } from "../../tool/watch-ai-sdk.ts";

type Fields = Readonly<Record<string, unknown>>;

interface PausedLoop {
  readonly scope: Scope;
  readonly tools: Fields;
  /** Of the request. */
  readonly messages: readonly unknown[];
  /** The messages that the loop added. */
  readonly said: readonly unknown[];
}

/**
 * @returns the messages to continue with; `undefined` if the loop has ended, or waits for a decision
 * @throws TOOL_APPROVAL_REQUIRED for a tool whose request cannot be stored
 */
export async function answerRequests(loop: PausedLoop): Promise<unknown[] | undefined> {
  const { scope, tools, messages, said } = loop;
  const requests = requestsIn(said);
  if (requests.length === 0) return undefined;
  for (const { call } of requests) assertStorable(tools, call);
  // Together, as one response makes them: equal calls are different ones.
  await Promise.all(
    requests.map(({ call, before }) =>
      // For an agent of another library, the SDK's telemetry reports it, unless the application has turned that off.
      requestRowOnce({ tools, messages: [...messages, ...before] }, { type: REQUEST, toolCall: call }),
    ),
  );
  if (scope.root.waiting.size > 0) return undefined;
  const content = requests.map(({ approvalId }) => ({ type: RESPONSE, approvalId, approved: true }));
  return [...messages, ...said, { role: "tool", content }];
}

/** Whether the loop that added these messages paused for a decision, so that it has no output yet. */
export function isPaused(said: readonly unknown[]): boolean {
  return requestsIn(said).length > 0;
}

const REQUEST = "tool-approval-request";
const RESPONSE = "tool-approval-response";

interface Request {
  readonly approvalId: unknown;
  readonly call: Fields;
  /** The messages before the response that made the call. */
  readonly before: readonly unknown[];
}

/** Those without a response: the SDK answers automatic ones itself. */
function requestsIn(said: readonly unknown[]): Request[] {
  const parts = said.flatMap(partsOf);
  const settled = new Set(parts.filter(({ type }) => type === RESPONSE).map(({ approvalId }) => approvalId));
  return said.flatMap((message, index) => {
    const own = partsOf(message);
    return own.flatMap((part): Request[] => {
      const { type, approvalId, toolCallId, isAutomatic } = part;
      if (type !== REQUEST || isAutomatic === true || settled.has(approvalId)) return [];
      const call = own.find((one) => one["type"] === "tool-call" && one["toolCallId"] === toolCallId);
      return call === undefined ? [] : [{ approvalId, call, before: said.slice(0, index) }];
    });
  });
}

function assertStorable(tools: Fields, { toolName, providerExecuted }: Fields): void {
  const name = String(toolName);
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  // A tool that `prepareCall` adds is not known here, and guards itself.
  if (providerExecuted !== true && (tool === undefined || carriesSpec(tool))) return;
  const variable = /^[\w$]+$/.test(name) ? name : "tool";
  throw new ToolwrightError(
    "TOOL_APPROVAL_REQUIRED",
    `Tool "${name}" needs approval, and it is a tool of another library: its request cannot be stored. Nothing was run.`,
    {
      details: { tool: name },
      hint:
        providerExecuted === true
          ? "The provider runs it: let the provider run it without approval, or leave it out."
          : `Convert it: fromTool(${variable}, { name: ${JSON.stringify(name)} }).`,
      effect: "none",
    },
  );
}

function partsOf(message: unknown): Fields[] {
  const content: unknown = isRecord(message) ? message["content"] : undefined;
  return Array.isArray(content) ? (content as unknown[]).filter(isRecord) : [];
}
