/** Tools as the Messages API takes them, under names that it takes, and back. */
import type { JsonSchema } from "../../definition/json-schema.ts";
import { toObjectSchema } from "../../definition/object-schema.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { ToolLike } from "../../tool/from-tool.ts";
import { offerTools, type ToolSource } from "../../tool/offer-tools.ts";
import { defaultRegistry } from "../../tool/registry.ts";
import type { Tool } from "../../tool/tool.ts";
import type { AnthropicToolParam } from "./loop-types.ts";

/**
 * @example
 * await client.messages.create({ model, max_tokens: 1024, messages, tools: [toAnthropicTool(placeOrder)] });
 */
export function toAnthropicTool(tool: ToolLike): AnthropicToolParam {
  return toAnthropicTools([tool])[0] as AnthropicToolParam;
}

/** @param source default: the tools of the global registry */
export function toAnthropicTools(source: ToolSource = defaultRegistry): AnthropicToolParam[] {
  return [...offerTools(source)].map(([name, tool]) => ({
    name,
    description: tool.description,
    input_schema: toInputSchema(specOf(tool).inputJsonSchema),
  }));
}

/** The tool that a model calls by this name, for those who drive a loop of their own. */
export function findAnthropicTool(source: ToolSource, name: string): Tool | undefined {
  return offerTools(source).get(name);
}

/** The SDK's type takes lists that can be changed. */
function toInputSchema(schema: JsonSchema): AnthropicToolParam["input_schema"] {
  const { required, ...rest } = toObjectSchema(schema);
  return { ...rest, required: [...required] };
}
