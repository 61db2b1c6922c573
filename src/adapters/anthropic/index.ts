/** `toolwright/anthropic`: tools and loops for the Anthropic SDK. The caller passes the client. */

export { runAgentLoop, runChatTurn } from "./run-agent-loop.ts";
export type {
  AgentLoopEvent,
  AgentLoopOptions,
  AgentLoopResult,
  AnthropicClient,
  LoopStop,
} from "./loop-types.ts";
export { findAnthropicTool, toAnthropicTool, toAnthropicTools } from "./to-anthropic-tool.ts";
export { toAnthropicRunnableTool, toAnthropicRunnableTools } from "./to-runnable-tool.ts";
export type { ToolSource } from "../../tool/from-tool.ts";
