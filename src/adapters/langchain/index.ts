/** `toolwright/langchain`: tools for LangChain and LangGraph. Their own are taken by `fromTool`. */

export { toLangChainTool, toLangChainTools } from "./to-langchain-tool.ts";
export type { LangChainContext } from "./to-langchain-tool.ts";
export type { LangChainToolOptions } from "./options.ts";
export type { ToolSource } from "../../tool/offer-tools.ts";
