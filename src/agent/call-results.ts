/** What came of the calls of one answer, as messages: for the model, and as they are kept. */
import { ToolwrightError } from "../errors.ts";
import { storedError } from "../invoke/error-record.ts";
import { storableOutput } from "../invoke/storable.ts";
import type { EndedCall, RequestedCall } from "../runtime/run-calls.ts";
import { cutErrorText } from "../tool/cut-error-text.ts";
import { outputText, saysError } from "../tool/model-answer.ts";
import { cutChars } from "./tools/paging.ts";
import type { AgentMessage } from "../model/messages.ts";

export interface CallResult {
  readonly sent: AgentMessage;
  /** Without what must not be stored: on a resume the result is made of the stored form. */
  readonly kept: AgentMessage;
}

/** @param maxChars what is longer is cut, with a handle. `undefined` for a call that waits */
export function resultOf(ended: EndedCall, secret: string, maxChars: number): CallResult | undefined {
  const { call } = ended;
  if (ended.spec === undefined) return errorResult(call, ended.error, maxChars);
  const { outcome, spec } = ended;
  if (outcome.status === "pending") return undefined;
  const executionId = outcome.key ?? undefined;
  if (outcome.status !== "success") return errorResult(call, outcome.error, maxChars, executionId);
  const { output, note } = outcome;
  const message = (value: unknown): AgentMessage => ({
    role: "tool",
    tool_call_id: call.id,
    name: call.name,
    ...shownText(value, note, executionId, maxChars),
    ...(saysError(value) ? { is_error: true as const } : {}),
    ...(executionId === undefined ? {} : { executionId }),
  });
  const sent = message(output);
  if (spec.redactOutput.length + spec.redactInput.length === 0) return { sent, kept: sent };
  return { sent, kept: message(storableOutput(spec, ended.args, output, secret)) };
}

function errorResult(
  call: RequestedCall,
  error: ToolwrightError,
  maxChars: number,
  executionId?: string,
): CallResult {
  const message = (shown: ToolwrightError): AgentMessage => ({
    role: "tool",
    tool_call_id: call.id,
    name: call.name,
    // The output of a command that failed is in here.
    ...shownText(shown.toModel(), undefined, executionId, maxChars),
    is_error: true,
    ...(executionId === undefined ? {} : { executionId }),
  });
  const sent = message(error);
  return { sent, kept: error.logged === undefined ? sent : message(storedError(error)) };
}

/** A call that is answered without being run. */
export function unrun(call: RequestedCall, problem: ToolwrightError): CallResult {
  return errorResult(call, problem, Infinity);
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

/** Offsets are those of the text that `get_tool_response` pages: without the note. */
function shownText(
  value: unknown,
  note: string | undefined,
  executionId: string | undefined,
  maxChars: number,
): Pick<AgentMessage, "content" | "format"> {
  const whole = outputText(value, undefined);
  if (whole.length <= maxChars) {
    const content = note === undefined ? whole : outputText(value, note);
    return { content: content.toWellFormed(), ...(typeof value === "string" ? {} : { format: "json" }) };
  }
  const handle = (offset: number | null): string =>
    executionId === undefined
      ? ""
      : `; get_tool_response ${JSON.stringify({ executionId, ...(offset === null ? {} : { offset }) })} returns ` +
        (offset === null ? "all of it" : "the rest");
  if (saysError(value)) {
    const mark = (shown: number, total: number): string =>
      `[cut: ${shown} of ${total} characters are shown${handle(null)}]`;
    const content = cutErrorText(whole, maxChars, mark);
    if (content !== undefined) return { content, format: "json" };
  }
  const { content: head, nextOffset } = cutChars(whole, 0, maxChars);
  const rest = handle(nextOffset);
  const shown = `${head}\n[cut: ${head.length} of ${whole.length} characters are shown${rest}]`;
  return { content: (note === undefined ? shown : `[${note}]\n${shown}`).toWellFormed() };
}
