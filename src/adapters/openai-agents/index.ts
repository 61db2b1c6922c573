/** `toolwright/openai-agents`: tools for the OpenAI Agents SDK. Its own are taken by `fromTool`. */

export { toOpenAIAgentTool, toOpenAIAgentTools } from "./to-openai-agent-tool.ts";
export type { OpenAIAgentsContext, OpenAIAgentTool } from "./to-openai-agent-tool.ts";
export type { OpenAIAgentToolOptions } from "./options.ts";
export { releaseMalformedCalls } from "./release-malformed-calls.ts";
export type { ToolSource } from "../../tool/offer-tools.ts";
