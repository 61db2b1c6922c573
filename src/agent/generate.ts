/** `agent.generate`, for tasks of a workflow. The agent runs in the task, which resumes it and waits for it. */
import { ToolwrightError } from "../errors.ts";
import { aList, aSignal, aText, type Check } from "../definition/option-checks.ts";
import { asOptionError } from "../definition/option-table.ts";
import { refusal } from "../runtime/options.ts";
import type { InvokeOptions, InvokeResult } from "./options.ts";
import type { AgentInput } from "./state.ts";

export interface GenerateOptions {
  readonly prompt?: string | undefined;
  readonly messages?: AgentInput["messages"] | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

export interface GenerateResult<Output = unknown> {
  readonly text: string;
  readonly output?: Output;
  readonly responseMessages: readonly { readonly role: "assistant"; readonly content: string }[];
}

/** Other loops may pass their own options, so only ours are checked. */
const GENERATE_CHECKS: Readonly<Record<keyof GenerateOptions, Check>> = {
  prompt: aText,
  messages: aList,
  abortSignal: aSignal,
};

function checkGenerateOptions(options: GenerateOptions): void {
  asOptionError("generate", () => {
    for (const [name, check] of Object.entries(GENERATE_CHECKS)) {
      const value = options[name as keyof GenerateOptions];
      if (value !== undefined) check(value, name);
    }
  });
}

type Invoke = (input: AgentInput, options?: InvokeOptions) => Promise<InvokeResult<never>>;

export async function generate(
  invoke: Invoke,
  options: GenerateOptions = {},
): Promise<GenerateResult<never>> {
  checkGenerateOptions(options);
  const { prompt, messages, abortSignal } = options;
  if (prompt === undefined && messages === undefined)
    throw refusal("of generate", "must have a prompt or messages");
  const input = { messages: messages ?? [{ role: "user" as const, content: prompt ?? "" }] };
  const result = await invoke(input, abortSignal === undefined ? {} : { signal: abortSignal });
  const { status, stop, content, outputError } = result;
  if (status === "failed") {
    throw new ToolwrightError(
      "TOOL_MODEL_FAILED",
      `The agent ended without an answer (${stop}). ${outputError ?? content}`.trim(),
    );
  }
  return {
    text: content,
    ...("output" in result ? { output: result.output } : {}),
    responseMessages: [{ role: "assistant", content }],
  };
}
