/** Calls a tool object for programs and loops: returns the plain output, or throws the error. */
import type { ToolSpec } from "../definition/tool-spec.ts";
import type { ToolwrightError } from "../errors.ts";
import type { CallOptions } from "../invoke/call.ts";
import {
  callInContext,
  callOwnExecute,
  needsApprovalInContext,
  currentScope,
} from "../invoke/call-in-context.ts";
import type { Outcome } from "../invoke/outcome.ts";
import { reportedCopy } from "../invoke/error-record.ts";
import { noteApprovalCheck } from "./approval-checks.ts";
import { findCallInMessages } from "./find-call-in-messages.ts";
import { errorOf } from "./model-answer.ts";
import { MODEL_NAME, type ToolCallOptions } from "./tool.ts";

type Success = Extract<Outcome, { status: "success" }>;

/** @param onYield receives the items that a generator yields, before the result */
export async function callTool(
  spec: ToolSpec,
  args: unknown,
  options: ToolCallOptions,
  onYield?: (item: unknown) => void,
): Promise<Success> {
  const own = callOwnExecute(spec, args);
  if (own !== undefined) {
    return { status: "success", output: await own, key: null, replayed: false, fromCache: false };
  }
  const made = toCallOptions(spec, args, options);
  // The loop has paused for this call, and an approval in the messages does not count by itself.
  const asks =
    made.messageDecision !== undefined && spec.needsApproval === undefined && currentScope() !== undefined;
  const called = asks ? { ...spec, needsApproval: true } : spec;
  const outcome = await callInContext(called, args, { ...made, onYield });
  if (outcome.status !== "success") throw thrownError(spec, outcome, isModelCall(options));
  return outcome;
}

export function needsApproval(spec: ToolSpec, args: unknown, options: ToolCallOptions): Promise<boolean> {
  noteApprovalCheck(currentScope(), options.toolCallId);
  return needsApprovalInContext(spec, args, toCallOptions(spec, args, options));
}

const SDK_OPTIONS = new Set([
  "toolCallId",
  "abortSignal",
  "messages",
  "context",
  "experimental_sandbox",
  "signal",
]);

type GivenOptions = ToolCallOptions & { readonly signal?: unknown; readonly [MODEL_NAME]?: unknown };

function toCallOptions(spec: ToolSpec, args: unknown, options: GivenOptions): CallOptions {
  const modelName = options[MODEL_NAME];
  const extra = Object.entries(options).filter(
    ([name, value]) => !SDK_OPTIONS.has(name) && value !== undefined,
  );
  return {
    toolCallId: options.toolCallId,
    ...(typeof modelName === "string" ? { modelName } : {}),
    signal: options.abortSignal ?? (options.signal instanceof AbortSignal ? options.signal : undefined),
    messageDecision: messageDecision(options),
    // All calls of one response receive the same array of messages.
    batch: options.messages,
    history: findCallInMessages(
      { toolName: spec.name, args, toolCallId: options.toolCallId },
      options.messages,
    ),
    ...(extra.length === 0 ? {} : { capabilities: Object.fromEntries(extra) }),
    ...(isModelCall(options) ? { loopContext: loopContext(options) } : {}),
  };
}

/** The AI SDK's options, which tools read in `ctx` under the same names. */
function loopContext(options: GivenOptions): Readonly<Record<string, unknown>> {
  const { messages, context, experimental_sandbox } = options as Record<string, unknown>;
  return {
    messages,
    ...(context === undefined ? {} : { context }),
    ...(experimental_sandbox === undefined ? {} : { experimental_sandbox }),
  };
}

/** For a loop that takes only text, the message is the whole error as JSON. */
function thrownError(
  spec: ToolSpec,
  outcome: Exclude<Outcome, { status: "success" }>,
  asText: boolean,
): ToolwrightError {
  const error = errorOf(spec, outcome);
  if (!asText) return error;
  const text = JSON.stringify(error.toModel());
  // The AI SDK sends `String(error)` to the model, so that must be the JSON alone.
  const thrown = reportedCopy(error, { message: text, cause: error });
  return Object.defineProperty(thrown, "toString", { value: () => text });
}

function isModelCall(options: ToolCallOptions): boolean {
  return options.toolCallId !== undefined && Array.isArray(options.messages);
}

/** The decision about this call in the message history. An approval counts only with `trustMessageApprovals`. */
function messageDecision({ toolCallId, messages }: ToolCallOptions): CallOptions["messageDecision"] {
  if (toolCallId === undefined || messages === undefined || messages.length === 0) return undefined;
  const parts = messages.flatMap((message) => partsOf(message));
  const request = parts.find(
    (part) =>
      part["type"] === "tool-approval-request" &&
      part["toolCallId"] === toolCallId &&
      part["isAutomatic"] !== true,
  );
  if (request === undefined) return undefined;
  const response = parts.find(
    (part) => part["type"] === "tool-approval-response" && part["approvalId"] === request["approvalId"],
  );
  if (response === undefined) return undefined;
  const reason = response["reason"];
  return { approved: response["approved"] === true, ...(typeof reason === "string" ? { reason } : {}) };
}

function partsOf(message: unknown): Record<string, unknown>[] {
  const content =
    typeof message === "object" && message !== null && "content" in message ? message.content : undefined;
  if (!Array.isArray(content)) return [];
  return content.filter((part): part is Record<string, unknown> => typeof part === "object" && part !== null);
}
