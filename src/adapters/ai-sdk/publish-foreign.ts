/**
 * Passes results of calls that the log lacks to the readers of a run: of tools of other libraries, and of calls that the SDK
 * refused. Results of our own tools are known already.
 */
import { ToolwrightError } from "../../errors.ts";
import { currentScope } from "../../invoke/call-in-context.ts";
import type { Scope } from "../../invoke/scope.ts";
import { originOf } from "../../loop/recorded-responses.ts";
import { toPlainJson } from "../../stream/result-parts.ts";
import { carriesSpec } from "../../tool/copied-tool.ts";

/** A part of the stream of an AI SDK loop. */
export interface SdkPart {
  readonly type: string;
  readonly error?: unknown;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly output?: unknown;
  /** What a generator yields before its result. */
  readonly preliminary?: boolean;
  /** The result is a part of the response. */
  readonly providerExecuted?: boolean;
}

/** @param tools of the loop, by the names that the model knows */
export function publishForeign(part: SdkPart, scope: Scope, tools: Readonly<Record<string, unknown>>): void {
  const { type, toolCallId, toolName, output, error, preliminary } = part;
  if (toolCallId === undefined || toolName === undefined) return;
  if (part.providerExecuted === true || preliminary === true) return;
  // A call in whose tool another one waits has a request instead.
  if (waits(error)) return;
  const stream = scope.host.streams.current(scope.identity.runId);
  const origin = originOf(currentScope() ?? scope);
  const named = { toolCallId, toolName };
  // An output of our own tools may have fields that the log hides.
  const isForeign = !(Object.hasOwn(tools, toolName) && carriesSpec(tools[toolName]));
  if (type === "tool-result" && isForeign)
    stream?.publishResult(origin, toolCallId, { type: "tool-result", ...named, output: toPlainJson(output) });
  if (type === "tool-error") {
    const message = error instanceof Error ? error.message : String(error);
    stream?.publishResult(origin, toolCallId, {
      type: "tool-error",
      ...named,
      error: { code: "TOOL_EXECUTION_FAILED", message },
    });
  }
}

export function waits(error: unknown): boolean {
  return ToolwrightError.is(error) && error.code === "TOOL_APPROVAL_PENDING";
}
