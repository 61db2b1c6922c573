/** `toolwright/openai-agents`: converts tools for the OpenAI Agents SDK. `fromTool` converts its tools to ours. */

import "../../load/peers/openai-agents.ts";

export { toOpenAIAgentTool, toOpenAIAgentTools } from "./to-openai-agent-tool.ts";
export type { OpenAIAgentsContext, OpenAIAgentTool } from "./to-openai-agent-tool.ts";
export type { OpenAIAgentToolOptions } from "./options.ts";
export { releaseMalformedCalls } from "./release-malformed-calls.ts";
export type { ToolSource } from "../../tool/from-tool.ts";
