/** `toolwright/ai-sdk`: a tool works in the AI SDK as it stands; this is what helps around it. */

export type { AISDKContext } from "./context.ts";
export { recordModel } from "./recorded-model.ts";
export type { LanguageModelLike } from "../../model/sdk-model.ts";
export { toolwrightTelemetry } from "../../tool/watch-ai-sdk.ts";
export type { AISDKTelemetry } from "../../tool/watch-ai-sdk.ts";
export { toAISDKTools } from "./to-ai-sdk-tools.ts";
export type { ToolSource } from "../../tool/offer-tools.ts";
