/**
 * Records what `state.reject()` says. The SDK answers a rejected call itself and never calls the tool, so the state is read
 * where the SDK does ask the tool something: whether it is enabled, which precedes every request to the model, and whether
 * another call of it needs approval.
 */
import type { RunContext } from "@openai/agents";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { denyUnderId } from "../../invoke/approvals/settle-by-message.ts";
import { callHere, scopeHere } from "../../invoke/call-here.ts";
import { waitingCallsOf } from "../../store/tables/approvals.ts";
import { decode } from "../../util/encode.ts";

/** @param name the tool's, as the SDK knows it */
export async function recordRejections(spec: ToolSpec, name: string, runContext: RunContext): Promise<void> {
  const scope = scopeHere()?.turn(1);
  if (scope === undefined) return;
  await scope.ready;
  for (const { toolCallId, argsJson } of await scope.host.store.read(() =>
    waitingCallsOf(scope.id, spec.name),
  )) {
    if (runContext.isToolApproved({ toolName: name, callId: toolCallId }) !== false) continue;
    const reason = runContext.getRejectionMessage(name, toolCallId);
    const isSettled = await denyUnderId(scope, toolCallId, reason);
    // The call itself is answered too, so that its row says so. Hidden arguments would make it another call.
    if (isSettled && spec.redactInput.length === 0)
      await callHere(spec, decode(argsJson), { toolCallId, modelName: name, readByModel: true });
  }
}
