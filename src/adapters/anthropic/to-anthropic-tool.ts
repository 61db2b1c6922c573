/** Tools as the Messages API takes them, under names that it takes, and back. */
import type { Tool as AnthropicTool } from "@anthropic-ai/sdk/resources/messages";
import { toProviderNames } from "../../definition/provider-names.ts";
import { specOf } from "../../tool/create-callable.ts";
import { type ToolLike, toTools } from "../../tool/from-tool.ts";
import { defaultRegistry, type Registry } from "../../tool/registry.ts";
import type { Tool } from "../../tool/tool.ts";
import { toAnthropicInputSchema } from "./input-schema.ts";

/** A list, an object keyed by name, or a registry. */
export type ToolSource = readonly ToolLike[] | Readonly<Record<string, ToolLike>> | Registry;

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
    input_schema: toAnthropicInputSchema(specOf(tool).inputJsonSchema),
  }));
}

/** The tool that a model calls by this name, for those who drive a loop of their own. */
export function findAnthropicTool(source: ToolSource, name: string): Tool | undefined {
  return offerTools(source).get(name);
}

/** Tools by the names that the model is told. @throws TOOL_ALREADY_REGISTERED */
export function offerTools(source: ToolSource): ReadonlyMap<string, Tool> {
  const tools = [...new Set(isRegistry(source) ? source.all() : toTools(source))];
  const names = toProviderNames(tools.map(({ name }) => name));
  return new Map(tools.map((tool, index) => [names[index] ?? tool.name, tool]));
}

function isRegistry(source: ToolSource): source is Registry {
  return "all" in source && typeof source.all === "function" && "register" in source;
}
