/** Passes the result of a model's call, or what it waits for, to the readers of the run. */
import type { ToolwrightError } from "../errors.ts";
import { toPlainJson } from "../stream/result-parts.ts";
import type { StreamPartDetails } from "../stream/stream-part.ts";
import type { Call } from "./call.ts";
import type { Outcome } from "./outcome.ts";
import { storableOutput } from "./storable.ts";

/** Only calls that a model made, which have a `toolCallId`. */
export function publishResult(call: Call, outcome: Outcome): void {
  const { scope, host, toolCallId } = call;
  const { runId, nodeId, iteration, parentKey } = scope.identity;
  const stream = toolCallId === undefined || scope.isDetached ? undefined : host.streams.current(runId);
  if (stream === undefined || toolCallId === undefined) return;
  const { id: scopeId, attempt, writer } = scope;
  const details = detailsOf(call, toolCallId, outcome);
  stream.publishResult(
    { runId, scopeId, attempt, nodeId, iteration, parentKey, writer },
    toolCallId,
    details,
  );
}

function detailsOf(call: Call, toolCallId: string, outcome: Outcome): StreamPartDetails {
  const { spec, args, host } = call;
  const toolName = call.modelName ?? spec.name;
  const named = { toolCallId, toolName };
  switch (outcome.status) {
    case "success":
      return {
        type: "tool-result",
        ...named,
        output: toPlainJson(storableOutput(spec, args, outcome.output, host.store.secret)),
      };
    case "pending": {
      const { id: approvalId, argsHash } = outcome.approval;
      return { type: "tool-approval-request", ...named, approvalId, argsHash };
    }
    case "denied":
      return { type: "tool-denied", ...named, error: errorOf(outcome.error) };
    case "error":
      return { type: "tool-error", ...named, error: errorOf(outcome.error) };
  }
}

function errorOf({ code, message, logged }: ToolwrightError): { code: string; message: string } {
  return { code, message: logged?.message ?? message };
}
