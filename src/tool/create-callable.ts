/** Makes a tool object of a resolved definition. What happens when it is called is decided by where it is called. */
import { TOOL_METADATA } from "../definition/metadata.ts";
import { toOutputJsonSchema } from "../definition/json-schema.ts";
import { toSdkSchema } from "../definition/sdk-schema.ts";
import { isUnrepeatable, type ToolSpec } from "../definition/tool-spec.ts";
import type { ToolwrightError } from "../errors.ts";
import type { CallOptions } from "../invoke/call.ts";
import type { Outcome } from "../invoke/outcome.ts";
import { Lazy } from "../util/lazy.ts";
import { toldCopy } from "../invoke/told-errors.ts";
import { errorOf } from "./model-answer.ts";
import { createModelNotes } from "./model-notes.ts";
import { type AnyTool, TOOL_SPEC, type Tool, type ToolCallOptions } from "./tool.ts";

export function createCallable<Args, Output>(spec: ToolSpec): Tool<Args, Output> {
  const notes = createModelNotes();

  const execute = async (args: Args, options: ToolCallOptions = {}): Promise<Output> => {
    const outcome = await callHere(spec, args, toCallOptions(options));
    if (outcome.status !== "success") throw thrownError(spec, outcome, isModelCall(options));
    if (options.toolCallId !== undefined) notes.keep(options.toolCallId, outcome.note);
    return outcome.output as Output;
  };

  const { outputSchema } = spec;
  return {
    name: spec.name,
    description: spec.description,
    get schema() {
      return spec.schema;
    },
    inputSchema: toSdkSchema<Args>(() => spec.inputJsonSchema),
    ...(outputSchema === undefined
      ? {}
      : { outputSchema: toSdkSchema<Output>(() => toOutputJsonSchema(outputSchema)) }),
    group: spec.group,
    terminal: spec.terminal,
    execute,
    invoke: execute,
    call: execute,
    run: execute,
    func: execute,
    // Also for what may have to be asked about after a crash, so that the loop pauses instead of reading an error.
    ...(spec.needsApproval !== undefined || isUnrepeatable(spec)
      ? { needsApproval: (args: Args, options: ToolCallOptions) => needsApprovalHere(spec, args, options) }
      : {}),
    toModelOutput: (options) => notes.toModelOutput(options),
    [TOOL_METADATA]: { name: spec.name, sideEffect: spec.sideEffect, idempotent: spec.idempotent },
    [TOOL_SPEC]: spec,
  };
}

export function specOf(tool: AnyTool): ToolSpec {
  return tool[TOOL_SPEC];
}

/** The pipeline is loaded at the first call of any tool. */
const pipeline = new Lazy(() => import("../invoke/call-here.ts"));

async function callHere(spec: ToolSpec, args: unknown, options: CallOptions): Promise<Outcome> {
  return (pipeline.value ?? (await pipeline.get())).callHere(spec, args, options);
}

async function needsApprovalHere(spec: ToolSpec, args: unknown, options: ToolCallOptions): Promise<boolean> {
  return (pipeline.value ?? (await pipeline.get())).needsApprovalHere(spec, args, toCallOptions(options));
}

const SDK_OPTIONS = new Set([
  "toolCallId",
  "abortSignal",
  "messages",
  "context",
  "experimental_sandbox",
  "signal",
]);

function toCallOptions(options: ToolCallOptions & { readonly signal?: unknown }): CallOptions {
  const extra = Object.entries(options).filter(
    ([name, value]) => !SDK_OPTIONS.has(name) && value !== undefined,
  );
  return {
    toolCallId: options.toolCallId,
    signal: options.abortSignal ?? (options.signal instanceof AbortSignal ? options.signal : undefined),
    messageDecision: messageDecision(options),
    ...(extra.length === 0 ? {} : { capabilities: Object.fromEntries(extra) }),
  };
}

/** A loop that takes text only gets all of the error in its text. */
function thrownError(
  spec: ToolSpec,
  outcome: Exclude<Outcome, { status: "success" }>,
  asText: boolean,
): ToolwrightError {
  const error = errorOf(spec, outcome);
  return asText ? toldCopy(error, JSON.stringify(error.toModel()), error) : error;
}

function isModelCall(options: ToolCallOptions): boolean {
  return options.toolCallId !== undefined && Array.isArray(options.messages);
}

/** What the message history says about this call. It decides nothing unless the runtime was told to trust it. */
function messageDecision({ toolCallId, messages }: ToolCallOptions): CallOptions["messageDecision"] {
  if (toolCallId === undefined || messages === undefined || messages.length === 0) return undefined;
  const parts = messages.flatMap((message) => partsOf(message));
  const request = parts.find(
    (part) => part["type"] === "tool-approval-request" && part["toolCallId"] === toolCallId,
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
