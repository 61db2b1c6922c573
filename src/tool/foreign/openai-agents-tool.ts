/**
 * Function tools of the OpenAI Agents SDK. They take a run context, which only their own loop has, and the input as JSON text.
 * Tools with options that only that SDK's runner enforces are refused.
 */
import { ToolwrightError } from "../../errors.ts";
import {
  type AnyPolicies,
  type ForeignContext,
  type ForeignTool,
  has,
  read,
  readPolicies,
  readText,
  refuseTool,
} from "./foreign-tool.ts";
import { readSchema } from "./foreign-schema.ts";

export interface OpenAIAgentsTool {
  readonly type: "function";
  readonly name: string;
  readonly parameters: object;
  invoke(runContext: unknown, input: string, details: object): Promise<unknown>;
}

export function isOpenAIAgentsTool(value: object): value is OpenAIAgentsTool {
  return (
    readText(value, "type") === "function" &&
    "parameters" in value &&
    "strict" in value &&
    has(value, "invoke")
  );
}

/** @param policy policies that override the tool's own */
export function readOpenAIAgentsTool(
  value: OpenAIAgentsTool,
  name: string,
  policy: AnyPolicies,
): ForeignTool {
  refuseWhatIsLost(value, name, policy);
  const { needsApproval, ...policies } = readPolicies(value);
  return {
    run: (args, ctx) => run(value, args, ctx),
    ...readSchema(value.parameters, name),
    policies: {
      ...policies,
      needsApproval:
        typeof needsApproval === "function"
          ? async (args: unknown, ctx: ForeignContext) =>
              (await import("./openai-agents-approval.ts")).asksForApproval(value, args, ctx)
          : needsApproval,
    },
    parsesInput: true,
  };
}

async function run(tool: OpenAIAgentsTool, args: unknown, ctx: ForeignContext): Promise<unknown> {
  const isEnabled = read(tool, "isEnabled");
  if (typeof isEnabled === "function" && (await isEnabled.call(tool, ctx.runContext)) === false) {
    throw new ToolwrightError("TOOL_NOT_FOUND", `Tool "${tool.name}" is disabled here (isEnabled).`, {
      details: { tool: tool.name },
      effect: "none",
    });
  }
  const input = JSON.stringify(args);
  const toolCall = {
    type: "function_call",
    callId: ctx.toolCallId ?? "",
    name: tool.name,
    arguments: input,
  };
  return tool.invoke(ctx.runContext, input, { toolCall, signal: ctx.signal });
}

function refuseWhatIsLost(value: OpenAIAgentsTool, name: string, policy: AnyPolicies): void {
  for (const guardrails of ["inputGuardrails", "outputGuardrails"]) {
    const list = read(value, guardrails);
    if (Array.isArray(list) && list.length > 0) {
      refuseTool(
        name,
        `it has ${guardrails}, which only the OpenAI Agents runner enforces. Check inside the tool, or use that runner.`,
        { field: guardrails },
      );
    }
  }
  if (has(value, "on")) {
    refuseTool(
      name,
      "it is an agent as a tool, whose own requests for approval would be lost here. Run the agent inside runtime.run.",
    );
  }
  const own = read(value, "timeoutMs");
  if (typeof own === "number" && (policy.timeoutMs ?? 0) > own) {
    refuseTool(name, `its own timeout of ${own} ms cannot be made longer.`, { field: "timeoutMs" });
  }
}

const ELSEWHERE = {
  hosted_tool: "it runs at OpenAI and cannot be called from here. Leave it in the tools of the OpenAI agent.",
  computer: "a computer tool cannot be called with arguments. Leave it in the tools of the OpenAI agent.",
  shell: "an OpenAI Agents shell tool cannot be called with arguments. Use Toolwright's bash.",
  apply_patch: "an OpenAI Agents patch tool cannot be called with arguments. Use Toolwright's edit.",
} as const;

/** Refuses other objects that may appear in the same lists. @throws TOOL_DEFINITION_INVALID */
export function refuseOtherOpenAIAgentsThing(value: object, name: string): void {
  const type = readText(value, "type");
  if (type !== undefined && Object.hasOwn(ELSEWHERE, type) && !has(value, "execute")) {
    refuseTool(name, ELSEWHERE[type as keyof typeof ELSEWHERE]);
  }
  if (has(value, "onInvokeHandoff")) {
    refuseTool(readText(value, "toolName") ?? name, "it is a handoff, which only an OpenAI agent can make.");
  }
  if (has(value, "asTool", "getAllTools")) {
    refuseTool(name, "it is an agent, not a tool. Run it inside runtime.run.");
  }
  if (has(value, "listTools", "callTool")) {
    refuseTool(
      name,
      "it is a connection to an MCP server, not a tool. Import its tools with toolwright/mcp.",
    );
  }
}
