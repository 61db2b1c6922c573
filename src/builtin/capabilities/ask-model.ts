/** Sends one prompt to a model and returns its text: an AI SDK language model, or any object with `invoke(messages)`. */
import { importPeer, peerHint } from "../../load/import-peer.ts";
import type { generateText } from "ai";
import { ToolwrightError } from "../../errors.ts";

export interface Question {
  readonly instructions: string;
  readonly prompt: string;
  readonly signal: AbortSignal | undefined;
}

export async function askModel(model: unknown, question: Question): Promise<string> {
  const { instructions, prompt, signal } = question;
  if (isInvokable(model)) {
    const messages = [
      { role: "system", content: instructions },
      { role: "user", content: prompt },
    ];
    return textOf(await model.invoke(messages, { signal }));
  }
  const sdk = await loadSdk();
  const { text } = await sdk.generateText({
    model: model as never,
    instructions,
    prompt,
    ...(signal === undefined ? {} : { abortSignal: signal }),
  });
  return text;
}

async function loadSdk(): Promise<{ generateText: typeof generateText }> {
  try {
    return await importPeer("ai", () => import("ai"));
  } catch (cause) {
    throw new ToolwrightError("TOOL_EXECUTION_FAILED", 'An AI SDK model needs the package "ai".', {
      hint: peerHint("ai", cause),
      effect: "none",
      cause,
    });
  }
}

interface Invokable {
  invoke(messages: readonly object[], options: object): unknown;
}

function isInvokable(model: unknown): model is Invokable {
  return (
    typeof model === "object" &&
    model !== null &&
    !("doGenerate" in model) &&
    "invoke" in model &&
    typeof model.invoke === "function"
  );
}

/** Accepts a string, a message with `content`, or a list of parts with `text`. */
function textOf(answer: unknown): string {
  if (typeof answer === "string") return answer;
  if (Array.isArray(answer)) return answer.map(textOf).join("");
  if (typeof answer !== "object" || answer === null) return "";
  const { content, text } = answer as { content?: unknown; text?: unknown };
  return textOf(content ?? text);
}
