/**
 * An agent as a tool of another one. Its responses and calls are stored inside the call, so the call can be entered again:
 * after a crash, and after a decision about a pending call in it.
 */
import { z } from "zod";
import { aFullText, aText } from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import { createToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import { createCallable } from "../tool/create-callable.ts";
import type { Tool } from "../tool/tool.ts";
import type { InvokeResult } from "./options.ts";
import type { AgentInput } from "./state.ts";

export interface AgentToolOptions {
  readonly name?: string | undefined;
  /** The same, as Cognipeer names it. */
  readonly toolName?: string | undefined;
  readonly description?: string | undefined;
  readonly inputDescription?: string | undefined;
}

type Invoke = (input: AgentInput) => Promise<InvokeResult>;

export const AGENT_TOOL_OPTIONS: OptionTable = optionTable<AgentToolOptions>("asTool", {
  name: aFullText,
  toolName: aFullText,
  description: aText,
  inputDescription: aText,
});

/** @param own the agent's own name @throws TOOL_DEFINITION_INVALID without a name */
export function createAgentTool(invoke: Invoke, options: AgentToolOptions = {}, own?: string): Tool {
  checkOptions(AGENT_TOOL_OPTIONS, options);
  const name = options.name ?? options.toolName ?? own;
  if (name === undefined || name === "") {
    throw new ToolwrightError("TOOL_DEFINITION_INVALID", "An agent that is used as a tool needs a name.", {
      hint: "Name the agent: createSmartAgent({ name }), or agent.asTool({ name, description }).",
    });
  }
  return createCallable(
    createToolSpec(
      {
        name,
        description: options.description ?? `Hands a task to the agent ${name} and returns its answer.`,
        schema: z.object({
          input: z.string().describe(options.inputDescription ?? "The task, with all that it needs."),
        }),
        execute: async ({ input }: { input: string }) => answerOf(name, await invoke(messageWith(input))),
      },
      {},
    ),
  );
}

function messageWith(content: string): AgentInput {
  return { messages: [{ role: "user", content }] };
}

function answerOf(name: string, result: InvokeResult): unknown {
  const { status, stop, content, outputError } = result;
  // Inside a run this is never seen: the enclosing call waits as well.
  if (status === "waiting") {
    throw new ToolwrightError(
      "TOOL_APPROVAL_REQUIRED",
      `The agent ${name} waits for a person's decision in run "${result.runId}", and its caller cannot.`,
      { details: { tool: name, runId: result.runId } },
    );
  }
  if (status === "failed") {
    throw new ToolwrightError(
      "TOOL_EXECUTION_FAILED",
      `The agent ${name} ended without an answer (${stop}). ${outputError ?? content}`.trim(),
      {
        details: { tool: name, stop },
      },
    );
  }
  return "output" in result ? result.output : content;
}
