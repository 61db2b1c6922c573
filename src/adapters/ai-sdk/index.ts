/** `toolwright/ai-sdk`: tools work in the AI SDK unchanged; this entry point adds helpers. */

export { recordModel } from "./recorded-model.ts";
export type { LanguageModelLike } from "../../model/sdk-model.ts";
export { toolwrightTelemetry } from "../../tool/watch-ai-sdk.ts";
export type { AISDKTelemetry } from "../../tool/watch-ai-sdk.ts";
export { toAISDKTools } from "./to-ai-sdk-tools.ts";
export type { AISDKContext } from "./to-ai-sdk-tools.ts";
export type { ToolSource } from "../../tool/offer-tools.ts";
