/** Converts tools to parameters of the Messages API, with names that it accepts, and finds a tool by such a name. */
import type { JsonSchema } from "../../definition/json-schema.ts";
import { toObjectSchema } from "../../definition/object-schema.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { ToolLike } from "../../tool/from-tool.ts";
import type { ToolSource } from "../../tool/from-tool.ts";
import { defaultRegistry, offerTools } from "../../tool/registry.ts";
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

/** Finds the tool that the model calls by this name, for custom loops. */
export function findAnthropicTool(source: ToolSource, name: string): Tool | undefined {
  return offerTools(source).get(name);
}

/** The SDK's type requires mutable lists. */
function toInputSchema(schema: JsonSchema): AnthropicToolParam["input_schema"] {
  const { required, ...rest } = toObjectSchema(schema);
  return { ...rest, required: [...required] };
}
