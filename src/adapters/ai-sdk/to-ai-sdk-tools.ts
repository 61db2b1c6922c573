/** Tools as the AI SDK takes them: they are that already, but a provider may refuse their names. */
import { offerTools, type ToolSource } from "../../tool/offer-tools.ts";
import type { Tool } from "../../tool/tool.ts";

/**
 * Under names that every provider takes. The log has the tools' own.
 *
 * @example
 * await generateText({ model, tools: toAISDKTools([placeOrder, read]), prompt });
 */
export function toAISDKTools(source: ToolSource): Record<string, Tool> {
  return Object.fromEntries(offerTools(source));
}
