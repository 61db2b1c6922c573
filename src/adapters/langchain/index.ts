/** `toolwright/langchain`: converts tools for LangChain and LangGraph. `fromTool` converts their tools to ours. */

import "../../load/peers/langchain.ts";

export { toLangChainTool, toLangChainTools } from "./to-langchain-tool.ts";
export type { LangChainContext } from "./to-langchain-tool.ts";
export type { LangChainToolOptions } from "./options.ts";
export type { ToolSource } from "../../tool/from-tool.ts";
