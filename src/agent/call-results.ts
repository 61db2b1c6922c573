/** What came of the calls of one answer, as messages: for the model, and as they are kept. */
import { ToolwrightError } from "../errors.ts";
import { maskOutput } from "../invoke/redact.ts";
import type { EndedCall, RequestedCall } from "../runtime/run-calls.ts";
import { outputText, saysError } from "../tool/model-answer.ts";
import { cutChars } from "./tools/paging.ts";
import type { AgentMessage } from "./messages.ts";

export interface CallResult {
  readonly sent: AgentMessage;
  /** Without what must not be stored: on a resume the result is made of the stored form. */
  readonly kept: AgentMessage;
}

/** @param maxChars what is longer is cut, with a handle. `undefined` for a call that waits */
export function resultOf(ended: EndedCall, secret: string, maxChars: number): CallResult | undefined {
  const { call } = ended;
  if (ended.spec === undefined) return errorResult(call, ended.error);
  const { outcome, spec } = ended;
  if (outcome.status === "pending") return undefined;
  const executionId = outcome.key ?? undefined;
  if (outcome.status !== "success") return errorResult(call, outcome.error, executionId);
  const { output, note } = outcome;
  const message = (value: unknown): AgentMessage =>
    cut(
      {
        role: "tool",
        tool_call_id: call.id,
        name: call.name,
        content: outputText(value, note).toWellFormed(),
        ...(typeof value === "string" ? {} : { format: "json" as const }),
        ...(saysError(value) ? { is_error: true as const } : {}),
        ...(executionId === undefined ? {} : { executionId }),
      },
      maxChars,
    );
  const sent = message(output);
  return { sent, kept: spec.redactOutput.length === 0 ? sent : message(maskOutput(spec, output, secret)) };
}

function errorResult(call: RequestedCall, error: ToolwrightError, executionId?: string): CallResult {
  const sent: AgentMessage = {
    role: "tool",
    tool_call_id: call.id,
    name: call.name,
    content: JSON.stringify(error.toModel()).toWellFormed(),
    format: "json",
    is_error: true,
    ...(executionId === undefined ? {} : { executionId }),
  };
  return { sent, kept: sent };
}

/** A call that is answered without being run. */
export function unrun(call: RequestedCall, problem: ToolwrightError): CallResult {
  return errorResult(call, problem);
}

export function cutOff(call: RequestedCall): ToolwrightError {
  return new ToolwrightError(
    "TOOL_INPUT_INVALID",
    `The answer was cut off before it was complete, so "${call.name}" was not run.`,
    { hint: "Make the call again, with less text around it or a shorter input.", effect: "none" },
  );
}

export function withdrawn(call: RequestedCall, budget: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_LIMIT_EXCEEDED",
    `The run has used up its budget ${budget}; "${call.name}" was not run.`,
    { details: { tool: call.name, limit: budget }, effect: "none" },
  );
}

function cut(message: AgentMessage, maxChars: number): AgentMessage {
  const { content, executionId } = message;
  if (typeof content !== "string" || content.length <= maxChars || executionId === undefined) return message;
  const { content: head, nextOffset } = cutChars(content, 0, maxChars);
  const { format: _format, ...rest } = message;
  const how = JSON.stringify({ executionId, offset: nextOffset });
  return {
    ...rest,
    content: `${head}\n[cut: ${head.length} of ${content.length} characters are shown; get_tool_response ${how} returns the rest]`,
  };
}
