/** The container in which the API runs code. Its id is sent with the next request, so that files and variables are still there. */
import type { Message, MessageCreateParamsBase } from "@anthropic-ai/sdk/resources/messages";

export type Container = NonNullable<Message["container"]>;
type Given = MessageCreateParamsBase["container"];

/** The latest one that a response named. */
export function containerAfter(message: Message, before: Container | undefined): Container | undefined {
  return message.container ?? before;
}

/**
 * @param given what the program says for every request: a container of its own, or skills to load
 * @param now one that has expired would be refused; the API makes a new one
 */
export function containerFor(given: Given, latest: Container | undefined, now: number): Given {
  if (latest === undefined || Date.parse(latest.expires_at) <= now) return given;
  return typeof given === "object" && given !== null ? { ...given, id: latest.id } : latest.id;
}
