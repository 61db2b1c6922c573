/** Rules about the calls of one response that every loop follows. A loop adds the message format of its API. */
import { fromObjectInput, withArguments } from "../definition/object-schema.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import type { Approval } from "../invoke/approval.ts";
import { messageOf, storedError } from "../invoke/error-record.ts";
import { storableUnparsedInput, storableOutput } from "../invoke/storable.ts";
import { saysError } from "../tool/model-answer.ts";
import type { EndedCall } from "./run-calls.ts";

/** A result in two forms. A resumed loop builds the result from the stored outcome, so the hash covers `stored`. */
export interface CallResult<Message> {
  readonly sent: Message;
  /** Without the values that must not be stored. */
  readonly stored: Message;
}

export interface ResultFormat<Message> {
  output(value: unknown, note: string | undefined, key: string | undefined): Message;
  error(error: ToolwrightError, key: string | undefined): Message;
}

/** @returns `undefined` for a call that waits for approval */
export function resultOf<Message>(
  ended: EndedCall,
  secret: string,
  format: ResultFormat<Message>,
): CallResult<Message> | undefined {
  if (ended.spec === undefined) return errorResult(ended.error, format);
  const { outcome, spec, args } = ended;
  if (outcome.status === "pending") return undefined;
  const key = outcome.key ?? undefined;
  if (outcome.status !== "success") return errorResult(outcome.error, format, key);
  const { output, note } = outcome;
  const sent = format.output(output, note, key);
  if (spec.redactOutput.length + spec.redactInput.length === 0) return { sent, stored: sent };
  return { sent, stored: format.output(storableOutput(spec, args, output, secret), note, key) };
}

export function errorResult<Message>(
  error: ToolwrightError,
  format: Pick<ResultFormat<Message>, "error">,
  key?: string,
): CallResult<Message> {
  const sent = format.error(error, key);
  return { sent, stored: error.logged === undefined ? sent : format.error(storedError(error), key) };
}

/** The arguments of a call as they are stored, in the form that the model sent them in. */
export function storedArguments(
  spec: ToolSpec,
  input: unknown,
  secret: string,
  hide: typeof storableUnparsedInput = storableUnparsedInput,
): unknown {
  const args = hide(spec, fromObjectInput(spec.inputJsonSchema, input), secret);
  return withArguments(spec.inputJsonSchema, input, args);
}

/**
 * The last call of a truncated response may be incomplete, and the loop cannot tell: none of them runs. A replay builds this
 * result again, and its text is hashed: do not change it.
 */
export function truncatedCall(toolName: string, what: "answer" | "response"): ToolwrightError {
  return new ToolwrightError(
    "TOOL_INPUT_INVALID",
    `The ${what} was cut off before it was complete, so "${toolName}" was not run.`,
    { hint: "Make the call again, with less text around it or a shorter input.", effect: "none" },
  );
}

/** The requests that the calls wait for. */
export function pendingApprovals(ended: readonly EndedCall[]): Approval[] {
  return ended.flatMap((one) =>
    one.spec !== undefined && one.outcome.status === "pending" ? [one.outcome.approval] : [],
  );
}

/** The keys under which the calls are logged, in their order. */
export function keysOf(ended: readonly EndedCall[]): string[] {
  return ended.flatMap((one) => (one.spec === undefined ? [] : (one.outcome.key ?? [])));
}

export interface TerminalCall {
  readonly spec: ToolSpec;
  readonly status: string;
  readonly input: unknown;
  readonly output: unknown;
}

/** The first successful call of a terminal tool: it ends the loop. */
export function terminalCallIn(ended: readonly EndedCall[]): TerminalCall | undefined {
  for (const { spec, ...one } of ended) {
    if (spec === undefined || spec.terminal === false || !("outcome" in one)) continue;
    const { args, outcome } = one;
    if (outcome.status !== "success" || saysError(outcome.output)) continue;
    return { spec, status: spec.terminal.status, input: args, output: outcome.output };
  }
  return undefined;
}

/** @throws TOOL_ABORTED */
export function assertNotAborted(signal: AbortSignal | undefined, what: "agent" | "loop"): void {
  if (signal?.aborted !== true) return;
  throw new ToolwrightError("TOOL_ABORTED", `The ${what} was aborted: ${messageOf(signal.reason)}.`, {
    hint: "Use the same run id to resume it.",
    cause: signal.reason,
  });
}
