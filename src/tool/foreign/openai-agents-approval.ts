/**
 * Whether the OpenAI Agents SDK would pause for this call. Uses the SDK's own runner, since only it knows the parsed
 * input that a conditional `needsApproval` receives. A guardrail stops the call before it would run. Any error is thrown,
 * and then the call needs approval (fail closed).
 */
import type { FunctionTool } from "@openai/agents";
import { importPeer } from "../../load/import-peer.ts";
import type { ForeignContext } from "./foreign-tool.ts";

export async function asksForApproval(
  value: object,
  args: unknown,
  { runContext, toolCallId = "call" }: ForeignContext,
): Promise<boolean> {
  const { Agent, RunContext, Runner, Usage } = await importPeer(
    "@openai/agents",
    () => import("@openai/agents"),
  );
  const tool = value as FunctionTool;
  let wouldRun = false;
  const stopped: FunctionTool = {
    ...tool,
    inputGuardrails: [
      {
        type: "tool_input",
        name: "ask",
        run: async () => {
          wouldRun = true;
          return { behavior: { type: "rejectContent", message: "" } };
        },
      },
    ],
  };
  const call = {
    type: "function_call" as const,
    callId: toolCallId,
    name: tool.name,
    arguments: JSON.stringify(args),
  };
  const agent = new Agent({
    name: "ask",
    tools: [stopped],
    toolUseBehavior: "stop_on_first_tool",
    model: {
      getResponse: async () => ({ usage: new Usage(), output: [call] }),
      getStreamedResponse: () => {
        throw new Error("not asked for");
      },
    },
  });
  // A separate context: an approval in the context of the loop does not count.
  const context = new RunContext((runContext as { context?: unknown } | undefined)?.context);
  const { interruptions } = await new Runner({ tracingDisabled: true }).run(agent, "", { context });
  if (interruptions.length > 0) return true;
  if (!wouldRun) throw new Error(`the SDK neither ran "${tool.name}" nor paused for it`);
  return false;
}
