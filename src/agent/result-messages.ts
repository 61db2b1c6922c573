/** The results of calls as messages of an agent. A long result is cut, with a handle to read the rest. */
import { ToolwrightError } from "../errors.ts";
import type { ResultFormat } from "../loop/call-results.ts";
import type { RequestedCall } from "../loop/run-calls.ts";
import type { AgentMessage } from "../model/messages.ts";
import { shortenErrorText } from "../tool/shorten-error-text.ts";
import { outputText, saysError } from "../tool/model-answer.ts";
import { cutChars } from "./tools/paging.ts";

export function resultFormat(call: RequestedCall, maxChars: number): ResultFormat<AgentMessage> {
  const message = (
    value: unknown,
    note: string | undefined,
    executionId: string | undefined,
    isError: boolean,
  ): AgentMessage => ({
    role: "tool",
    tool_call_id: call.id,
    name: call.name,
    ...shownText(value, note, executionId, maxChars),
    ...(isError ? { is_error: true as const } : {}),
    ...(executionId === undefined ? {} : { executionId }),
  });
  return {
    output: (value, note, key) => message(value, note, key, saysError(value)),
    // A failed command puts its output into the error, so errors are cut as well.
    error: (error, key) => message(error.toModel(), undefined, key, true),
  };
}

/** A replay builds this result again, and its text is hashed: do not change it. */
export function overBudget(call: RequestedCall, budget: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_LIMIT_EXCEEDED",
    `The run has used up its budget ${budget}; "${call.name}" was not run.`,
    { details: { tool: call.name, limit: budget }, effect: "none" },
  );
}

/** Offsets refer to the text that `get_tool_response` pages, which lacks the note. */
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
    const content = shortenErrorText(whole, maxChars, mark);
    if (content !== undefined) return { content, format: "json" };
  }
  const { content: head, nextOffset } = cutChars(whole, 0, maxChars);
  const rest = handle(nextOffset);
  const shown = `${head}\n[cut: ${head.length} of ${whole.length} characters are shown${rest}]`;
  return { content: (note === undefined ? shown : `[${note}]\n${shown}`).toWellFormed() };
}
