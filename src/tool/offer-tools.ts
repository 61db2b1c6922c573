/** Tools by the names that a model is told: mapped where a provider refuses them, and back by this very map. */
import { COMMON_NAME_RULE, type NameRule, toProviderNames } from "../definition/provider-names.ts";
import { type ToolSource, toTools } from "./from-tool.ts";
import type { Tool } from "./tool.ts";

export type { ToolSource } from "./from-tool.ts";

/** @throws TOOL_ALREADY_REGISTERED when two tools cannot be told apart */
export function offerTools(source: ToolSource, rule: NameRule = COMMON_NAME_RULE): ReadonlyMap<string, Tool> {
  const tools = [...new Set(toTools(source))];
  const names = toProviderNames(
    tools.map(({ name }) => name),
    rule,
  );
  return new Map(tools.map((tool, index) => [names[index] ?? tool.name, tool]));
}
