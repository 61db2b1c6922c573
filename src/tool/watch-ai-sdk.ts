/**
 * What a loop of the AI SDK decides without calling a tool: `toolApproval: "user-approval"` pauses it, and a denial in the
 * messages is answered by the SDK itself. Both are seen through the SDK's own telemetry, inside the run that the loop is
 * in, and become rows of the store: a request to decide, and a decision. Nothing of `ai` is imported.
 */
import { fromObjectInput } from "../definition/object-schema.ts";
import { sharedByCopies } from "../definition/package-copy.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { callHere, needsApprovalHere, scopeHere } from "../invoke/call-here.ts";
import { denyUnderId } from "../invoke/approvals/settle-by-message.ts";
import type { Scope } from "../invoke/scope.ts";
import { wasAsked } from "./asked-calls.ts";
import { carriesSpec, specOfCopy } from "./copied-tool.ts";
import { placeInHistory } from "./message-history.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The part of the AI SDK's telemetry that is used here. The SDK awaits each, and drops what they throw. */
export interface AISDKTelemetry {
  onStart(event: object): Promise<void>;
  onStepStart(event: object): void;
  onStepEnd(step: object): Promise<void>;
  onEnd(event: object): void;
}

/** Registers it with the AI SDK, once. A call with `telemetry: { integrations }` of its own has to name it there. */
export function watchAISDK(): void {
  const holder = globalThis as { AI_SDK_TELEMETRY_INTEGRATIONS?: unknown[] };
  const list = (holder.AI_SDK_TELEMETRY_INTEGRATIONS ??= []);
  const shared = sharedByCopies("ai sdk telemetry.1", () => toolwrightTelemetry);
  if (!list.includes(shared)) list.push(shared);
}

/** A loop that is running: the tools it was given, and the messages of its current step. */
interface Loop {
  readonly tools: Fields;
  messages: readonly unknown[];
}

const loops = new Map<unknown, Loop>();
const MOST_LOOPS = 1_000;

export const toolwrightTelemetry: AISDKTelemetry = {
  async onStart(event) {
    const { callId, tools, messages } = event as Fields;
    const scope = scopeHere();
    if (scope === undefined || !isFields(tools)) return;
    const loop = { tools, messages: listOf(messages) };
    loops.set(callId, loop);
    // A loop that ended without saying so must not be kept for ever.
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
    if (loop === undefined) return;
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

/** The SDK waits for a person: so does the call, with a row to decide. */
async function requestRow({ tools, messages }: Loop, part: unknown): Promise<void> {
  if (!isFields(part) || part["type"] !== "tool-approval-request" || part["isAutomatic"] === true) return;
  const call = callOf(tools, part["toolCall"]);
  const scope = scopeHere();
  if (call === undefined || scope === undefined || wasAsked(scope, call.toolCallId)) return;
  await needsApprovalHere(waitingFor(call.spec), call.args, optionsOf(call, messages));
}

/** A tool that waits because its loop does, whatever it says itself. */
function waitingFor(spec: ToolSpec): ToolSpec {
  return { ...spec, needsApproval: true };
}

/** The SDK looks at the last message only, and answers what was denied there without calling the tool. */
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
    const isSettled = await denyUnderId(scope, toolCallId, typeof reason === "string" ? reason : undefined);
    const said = parts.find((part) => part["type"] === "tool-call" && part["toolCallId"] === toolCallId);
    const call = callOf(tools, said);
    // The call itself is answered too, so that its row says so. Denied, it can run nothing.
    if (isSettled && call !== undefined) await callHere(call.spec, call.args, optionsOf(call, messages));
  }
}

/** `undefined` for a tool of another maker. */
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
    history: placeInHistory({ toolName: spec.name, args, toolCallId }, messages),
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
