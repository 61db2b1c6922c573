/** Tools as the Messages API takes them, under names that it takes, and back. */
import type { Tool as AnthropicTool } from "@anthropic-ai/sdk/resources/messages";
import { toObjectSchema } from "../../definition/object-schema.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { ToolLike } from "../../tool/from-tool.ts";
import { offerTools, type ToolSource } from "../../tool/offer-tools.ts";
import { defaultRegistry } from "../../tool/registry.ts";
import type { Tool } from "../../tool/tool.ts";

/**
 * @example
 * await client.messages.create({ model, max_tokens: 1024, messages, tools: [toAnthropicTool(placeOrder)] });
 */
export function toAnthropicTool(tool: ToolLike): AnthropicTool {
  return toAnthropicTools([tool])[0] as AnthropicTool;
}

/** @param source default: the tools of the global registry */
export function toAnthropicTools(source: ToolSource = defaultRegistry): AnthropicTool[] {
  return [...offerTools(source)].map(([name, tool]) => ({
    name,
    description: tool.description,
    input_schema: toObjectSchema(specOf(tool).inputJsonSchema),
  }));
}

/** The tool that a model calls by this name, for those who drive a loop of their own. */
export function findAnthropicTool(source: ToolSource, name: string): Tool | undefined {
  return offerTools(source).get(name);
}
