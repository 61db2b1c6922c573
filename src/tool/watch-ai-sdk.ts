/**
 * Decisions that an AI SDK loop makes without calling a tool: `toolApproval: "user-approval"` pauses the loop, and the SDK itself
 * answers a denial in the messages. This file observes both through the SDK's telemetry, inside the run of the loop, and stores
 * them: as an approval request, and as a decision. It imports nothing from `ai`.
 */
import { fromObjectInput } from "../definition/object-schema.ts";
import { sharedByCopies } from "../definition/package-copy.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { needsApprovalInContext, currentScope } from "../invoke/call-in-context.ts";
import { denyUnderId } from "../invoke/approvals/settle-by-message.ts";
import type { Scope } from "../invoke/scope.ts";
import { hasApprovalCheck, hasPaused, isDriven, notePause } from "./approval-checks.ts";
import { carriesSpec, specOfCopy } from "./copied-tool.ts";
import { findCallInMessages } from "./find-call-in-messages.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The part of the AI SDK's telemetry that is used here. The SDK awaits each hook, and ignores its errors. */
export interface AISDKTelemetry {
  onStart(event: object): Promise<void>;
  onStepStart(event: object): void;
  onStepEnd(step: object): Promise<void>;
  onEnd(event: object): void;
}

/** Registers the integration with the AI SDK once. A call with its own `telemetry: { integrations }` must list it there. */
export function watchAISDK(): void {
  const holder = globalThis as { AI_SDK_TELEMETRY_INTEGRATIONS?: unknown[] };
  const list = (holder.AI_SDK_TELEMETRY_INTEGRATIONS ??= []);
  const shared = sharedByCopies("ai sdk telemetry.1", () => toolwrightTelemetry);
  if (!list.includes(shared)) list.push(shared);
}

/** A running loop: its tools, and the messages of its current step. */
export interface Loop {
  readonly tools: Fields;
  messages: readonly unknown[];
}

const loops = new Map<unknown, Loop>();
const MOST_LOOPS = 1_000;

export const toolwrightTelemetry: AISDKTelemetry = {
  async onStart(event) {
    const { callId, tools, messages } = event as Fields;
    const scope = currentScope();
    if (scope === undefined || !isFields(tools)) return;
    const loop = { tools, messages: listOf(messages) };
    loops.set(callId, loop);
    // A loop that ended without an event must not be kept forever.
    const [oldest] = loops.keys();
    if (loops.size > MOST_LOOPS) loops.delete(oldest);
    await settleDenials(scope, loop);
  },
  onStepStart(event) {
    const { callId, messages } = event as Fields;
    const loop = loops.get(callId);
    if (loop !== undefined) loop.messages = listOf(messages);
  },
  async onStepEnd(step) {
    const { callId, content } = step as Fields;
    const loop = loops.get(callId);
    const scope = currentScope();
    if (loop === undefined || scope === undefined || isDriven(scope)) return;
    for (const part of listOf(content)) await requestRow(loop, part);
  },
  onEnd(event) {
    loops.delete((event as Fields)["callId"]);
  },
};

interface ModelCall {
  readonly spec: ToolSpec;
  readonly args: unknown;
  readonly toolCallId: string;
}

/** The same for a loop that is driven here, in which each call has its own id: does nothing if telemetry has reported the call. */
export async function requestRowOnce(loop: Loop, part: unknown): Promise<void> {
  const call = isFields(part) ? callOf(loop.tools, part["toolCall"]) : undefined;
  const scope = currentScope();
  if (call === undefined || scope === undefined || hasPaused(scope, call.toolCallId)) return;
  await requestRow(loop, part);
}

/** The SDK waits for approval, so the call does too, with a request in the store. */
async function requestRow({ tools, messages }: Loop, part: unknown): Promise<void> {
  if (!isFields(part) || part["type"] !== "tool-approval-request" || part["isAutomatic"] === true) return;
  const call = callOf(tools, part["toolCall"]);
  const scope = currentScope();
  if (call === undefined || scope === undefined || hasApprovalCheck(scope, call.toolCallId)) return;
  notePause(scope, call.toolCallId);
  await needsApprovalInContext(waitingFor(call.spec), call.args, optionsOf(call, messages));
}

/** A tool that needs approval because its loop requires it, regardless of its own `needsApproval`. */
function waitingFor(spec: ToolSpec): ToolSpec {
  return { ...spec, needsApproval: true };
}

/** The SDK checks only the last message, and answers denied calls there without calling the tool. */
async function settleDenials(scope: Scope, { tools, messages }: Loop): Promise<void> {
  const last = messages.at(-1);
  const parts = messages.flatMap((message) => partsOf(message));
  for (const response of partsOf(last)) {
    if (response["type"] !== "tool-approval-response" || response["approved"] !== false) continue;
    const request = parts.find(
      ({ type, approvalId }) => type === "tool-approval-request" && approvalId === response["approvalId"],
    );
    const toolCallId = request?.["toolCallId"];
    if (typeof toolCallId !== "string") continue;
    const { reason } = response;
    const said = parts.find((part) => part["type"] === "tool-call" && part["toolCallId"] === toolCallId);
    const call = callOf(tools, said);
    if (call === undefined) continue;
    const { history } = optionsOf(call, messages);
    await denyUnderId(
      scope.turn(history?.turn ?? 1),
      toolCallId,
      typeof reason === "string" ? reason : undefined,
    );
  }
}

/** `undefined` for a foreign tool. */
function callOf(tools: Fields, said: unknown): ModelCall | undefined {
  const { toolName, toolCallId, input } = isFields(said) ? said : {};
  if (typeof toolName !== "string" || typeof toolCallId !== "string" || !Object.hasOwn(tools, toolName))
    return undefined;
  const tool = tools[toolName];
  if (!carriesSpec(tool)) return undefined;
  const spec = specOfCopy(tool, true);
  return { spec, args: fromObjectInput(spec.inputJsonSchema, input), toolCallId };
}

function optionsOf({ spec, args, toolCallId }: ModelCall, messages: readonly unknown[]) {
  return {
    toolCallId,
    batch: messages,
    history: findCallInMessages({ toolName: spec.name, args, toolCallId }, messages),
    readByModel: true,
  };
}

function partsOf(message: unknown): Fields[] {
  return isFields(message) ? listOf(message["content"]).filter(isFields) : [];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}
