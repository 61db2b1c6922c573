/** What every request of an agent begins with. Made once per invoke, and on record with it. */

export interface PromptParts {
  readonly name: string | undefined;
  readonly systemPrompt: string | undefined;
  readonly hasPlan: boolean;
  readonly hasOutput: boolean;
  /** What the project says about its tools. */
  readonly capabilities: string;
}

export function buildSystemPrompt({
  name,
  systemPrompt,
  hasPlan,
  hasOutput,
  capabilities,
}: PromptParts): string {
  return [
    systemPrompt ?? (name === undefined ? "" : `You are ${name}.`),
    hasPlan ? "For work of several steps, keep a plan with manage_todo_list." : "",
    "Old or long results of tools are archived. get_tool_response returns them by the executionId that stands in their place.",
    hasOutput ? "When everything is done, call response once with the final answer." : "",
    capabilities,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}
