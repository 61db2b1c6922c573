/** `toolwright/ai-sdk`: tools work in the AI SDK unchanged; this entry point adds helpers. */

export { recordModel } from "./recorded-model.ts";
export type { LanguageModelLike } from "../../model/sdk-model.ts";
export { toolwrightTelemetry } from "../../tool/watch-ai-sdk.ts";
export type { AISDKTelemetry } from "../../tool/watch-ai-sdk.ts";
export { toAISDKTools } from "./to-ai-sdk-tools.ts";
export type { AISDKContext } from "./to-ai-sdk-tools.ts";
export type { ToolSource } from "../../tool/from-tool.ts";
export { toUIMessageStream } from "./to-ui-message-stream.ts";
export { createChatHandler } from "./chat/create-chat-handler.ts";
export type { ChatAccess, ChatHandler, ChatHandlerOptions } from "./chat/create-chat-handler.ts";
export type { ChatAgent } from "./chat/drive-turn.ts";
export type { ChatIdentity } from "./chat/settle-decisions.ts";
