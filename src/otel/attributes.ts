/**
 * Names, kinds and attributes of spans, by the GenAI conventions. They have no attributes for runs, approvals and attempts:
 * those are in the namespace `toolwright`. Keys of calls are in none.
 */
import { type Attributes, SpanKind } from "@opentelemetry/api";
import type { CallWork, ChatAnswer, Work, WorkEnd, WorkLocation } from "../invoke/telemetry.ts";
import type { Frame } from "./frames.ts";
import { providerName } from "./provider-name.ts";

export interface Described {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
}

export function describeWork(work: Work): Described {
  const { location } = work;
  switch (work.type) {
    case "workflow":
      return {
        name: named("invoke_workflow", work.name),
        kind: SpanKind.INTERNAL,
        attributes: given({
          "gen_ai.operation.name": "invoke_workflow",
          "gen_ai.workflow.name": work.name,
          ...locationAttributes(location),
        }),
      };
    case "agent":
      return {
        name: named("invoke_agent", work.name),
        kind: SpanKind.INTERNAL,
        attributes: given({
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.provider.name": providerName(work.provider),
          "gen_ai.agent.name": work.name,
          "gen_ai.request.model": work.model,
          "gen_ai.conversation.id": location.runId,
          ...locationAttributes(location),
        }),
      };
    case "chat":
      return {
        name: named("chat", work.model),
        kind: SpanKind.CLIENT,
        attributes: given({
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": providerName(work.provider),
          "gen_ai.request.model": work.model,
          "gen_ai.conversation.id": location.runId,
          "gen_ai.request.stream": work.isStreamed ? true : undefined,
          "gen_ai.output.type": work.isJson ? "json" : undefined,
          "gen_ai.request.seed": work.seed,
          "gen_ai.request.max_tokens": work.maxTokens,
          "gen_ai.request.temperature": work.temperature,
          "gen_ai.request.top_k": work.topK,
          "gen_ai.request.top_p": work.topP,
          "gen_ai.request.frequency_penalty": work.frequencyPenalty,
          "gen_ai.request.presence_penalty": work.presencePenalty,
          ...locationAttributes(location),
        }),
      };
    case "request":
    case "decision":
      return {
        name: `${work.type === "request" ? "request_approval" : "decide_approval"} ${work.toolName}`,
        kind: SpanKind.INTERNAL,
        attributes: given({ "toolwright.tool.name": work.toolName, ...locationAttributes(location) }),
      };
  }
}

/** @param frame where the call is made */
export function describeCall(
  { location, toolName, description, toolCallId }: CallWork,
  frame: Frame | undefined,
): Described {
  return {
    name: `execute_tool ${toolName}`,
    kind: SpanKind.INTERNAL,
    attributes: given({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": toolName,
      "gen_ai.tool.type": "function",
      // A tool without a description has its name there.
      "gen_ai.tool.description": description === toolName ? undefined : description,
      "gen_ai.tool.call.id": toolCallId,
      "gen_ai.agent.name": frame?.agent,
      ...frame?.request,
      ...locationAttributes(location),
    }),
  };
}

const MCP_CALL = { "mcp.method.name": "tools/call" };
/** The client chooses the id of its request. */
const MAX_ID_LENGTH = 100;

/** A call that an MCP client requested from this server. */
export function describeRequest(id: string | number): Attributes {
  return { ...MCP_CALL, "jsonrpc.request.id": String(id).slice(0, MAX_ID_LENGTH).toWellFormed() };
}

/** A call that is sent to an MCP server. */
export function describeRemoteCall(statusCode: number | undefined): Attributes {
  return statusCode === undefined
    ? MCP_CALL
    : { ...MCP_CALL, "rpc.response.status_code": String(statusCode) };
}

/** @param isContent whether arguments, outputs and messages were asked for */
export function describeEnd({ errorType, status, answer, content }: WorkEnd, isContent: boolean): Attributes {
  const { input, output, errorMessage } = (isContent ? content?.() : undefined) ?? {};
  return given({
    "error.type": toErrorType(errorType),
    "toolwright.status": status,
    ...(answer === undefined ? {} : answerAttributes(answer)),
    "gen_ai.tool.call.arguments": input,
    "gen_ai.tool.call.result": output,
    "error.message": errorMessage,
  });
}

const NAME = /^[\p{L}_$][\p{L}\p{N}_$.:-]{0,99}$/u;

/** A tool may give its errors any text as their code, even content. */
export function toErrorType(code: string | undefined): string | undefined {
  return code === undefined || NAME.test(code) ? code : "_OTHER";
}

function answerAttributes(answer: ChatAnswer): Attributes {
  const { finishReason } = answer;
  return {
    "gen_ai.response.model": answer.model,
    "gen_ai.response.id": answer.id,
    "gen_ai.response.finish_reasons": finishReason === undefined ? undefined : [finishReason],
    "gen_ai.usage.input_tokens": answer.inputTokens,
    "gen_ai.usage.output_tokens": answer.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": answer.cachedInputTokens,
    "gen_ai.usage.cache_creation.input_tokens": answer.cacheWriteTokens,
    "gen_ai.usage.reasoning.output_tokens": answer.reasoningTokens,
  };
}

function locationAttributes({ runId, kind, nodeId, iteration, attempt }: WorkLocation): Attributes {
  return {
    "toolwright.run.id": runId,
    "toolwright.run.kind": kind,
    "toolwright.node.id": nodeId,
    "toolwright.iteration": iteration,
    "toolwright.attempt": attempt,
  };
}

function named(operation: string, name: string | undefined): string {
  return name === undefined || name === "" ? operation : `${operation} ${name}`;
}

/** Without the attributes that have no value. */
export function given(attributes: Attributes): Attributes {
  const kept: Attributes = {};
  for (const name in attributes) {
    const value = attributes[name];
    if (value !== undefined && value !== "") kept[name] = value;
  }
  return kept;
}
