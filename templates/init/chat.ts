/** The chat: an AI SDK agent behind the handler that `useChat` talks to. Every answer survives a restart. */
import { type LanguageModel, ToolLoopAgent } from "ai";
import type { Runtime } from "toolwright";
import { type ChatHandler, createChatHandler } from "toolwright/ai-sdk";
import { placeOrder } from "./place-order.ts";

export function createChat(runtime: Runtime, model: LanguageModel): ChatHandler {
  return createChatHandler({
    runtime,
    agent: new ToolLoopAgent({ model, tools: { place_order: placeOrder } }),
    // Who is it, and may they use this chat? Check your session here. `canDecide`: may they approve orders?
    authorize: () => ({ name: "you", canDecide: true }),
  });
}
