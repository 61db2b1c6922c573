/**
 * Whether the OpenAI Agents SDK would pause for this call. Its own runner is asked, since only it knows what it hands to
 * a conditional `needsApproval`: the input after the tool's own parsing. A guardrail stops the call where it would run.
 * Whatever goes wrong is thrown, and a throw means that a person is asked.
 */
import type { FunctionTool } from "@openai/agents";
import { refusePlanted } from "../../sandbox/files/code-folders.ts";
import type { ForeignContext } from "./foreign-tool.ts";

export async function asksForApproval(
  value: object,
  args: unknown,
  { runContext, toolCallId = "call" }: ForeignContext,
): Promise<boolean> {
  refusePlanted("@openai/agents");
  const { Agent, RunContext, Runner, Usage } = await import("@openai/agents");
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
  // A context of its own: what stands approved in that of the loop is no decision.
  const context = new RunContext((runContext as { context?: unknown } | undefined)?.context);
  const { interruptions } = await new Runner({ tracingDisabled: true }).run(agent, "", { context });
  if (interruptions.length > 0) return true;
  if (!wouldRun) throw new Error(`the SDK neither ran "${tool.name}" nor paused for it`);
  return false;
}
