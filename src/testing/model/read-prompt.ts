/** Reads the AI SDK's messages for scripts, so that they need not know the format. */
import type { ScriptedMessage, ScriptedToolResult } from "./script.ts";

export interface PromptReading {
  readonly turn: number;
  readonly text: string;
  readonly toolResults: readonly ScriptedToolResult[];
}

export function readPrompt(prompt: readonly ScriptedMessage[]): PromptReading {
  const isAnswer = ({ role }: ScriptedMessage): boolean => role === "assistant";
  const news = prompt.slice(prompt.findLastIndex(isAnswer) + 1);
  return {
    turn: prompt.filter(isAnswer).length,
    text: textOf(prompt.findLast(({ role }) => role === "user")?.content),
    toolResults: news
      .filter(({ role }) => role === "tool")
      .flatMap(({ content }) => partsOf(content))
      .filter(({ type }) => type === "tool-result")
      .map(({ toolName, output }) => ({ toolName: String(toolName), output: valueOf(output) })),
  };
}

/** The calls of a response, without their ids. */
export function toolCallsOf({ content }: ScriptedMessage): { toolName: unknown; input: unknown }[] {
  return partsOf(content)
    .filter(({ type }) => type === "tool-call")
    .map(({ toolName, input }) => ({ toolName, input }));
}

type Part = Readonly<Record<string, unknown>>;

function partsOf(content: unknown): readonly Part[] {
  return Array.isArray(content) ? (content as readonly Part[]) : [];
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const texts = partsOf(content).filter(({ type }) => type === "text");
  return texts.map(({ text }) => String(text)).join("");
}

/** The value of a text or JSON result, or the reason of a denial. */
function valueOf(output: unknown): unknown {
  const { value, reason } = output as { readonly value?: unknown; readonly reason?: unknown };
  return value ?? reason;
}
