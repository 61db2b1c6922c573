/** The container in which the API runs code. Later requests send its id to keep its files and variables. */
import type { Message, MessageCreateParamsBase } from "@anthropic-ai/sdk/resources/messages";

export type Container = NonNullable<Message["container"]>;
type Given = MessageCreateParamsBase["container"];

/** The container of the latest response that has one. */
export function containerAfter(message: Message, before: Container | undefined): Container | undefined {
  return message.container ?? before;
}

/**
 * @param given the `container` parameter of the caller: an id, or skills to load
 * @param now to omit an expired container, which the API would reject; it creates a new one
 */
export function containerFor(given: Given, latest: Container | undefined, now: number): Given {
  if (latest === undefined || Date.parse(latest.expires_at) <= now) return given;
  return typeof given === "object" && given !== null ? { ...given, id: latest.id } : latest.id;
}
