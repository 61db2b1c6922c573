/**
 * Stores rejections of `state.reject()` as denials. The SDK answers a rejected call itself and never calls the tool,
 * so the state is read in the callbacks that the SDK does call: `isEnabled`, before every request to the model, and
 * `needsApproval` of another call.
 */
import type { RunContext } from "@openai/agents";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { denyUnderId } from "../../invoke/approvals/settle-by-message.ts";
import { currentScope } from "../../invoke/call-in-context.ts";
import { waitingCallsOf } from "../../store/tables/approvals.ts";

/** @param name the SDK's name of the tool */
export async function recordRejections(spec: ToolSpec, name: string, runContext: RunContext): Promise<void> {
  const scope = currentScope()?.turn(1);
  if (scope === undefined) return;
  await scope.ready;
  for (const toolCallId of await scope.host.store.read(() => waitingCallsOf(scope.id, spec.name))) {
    if (runContext.isToolApproved({ toolName: name, callId: toolCallId }) !== false) continue;
    await denyUnderId(scope, toolCallId, runContext.getRejectionMessage(name, toolCallId));
  }
}
