/** The tools of a loop by the names that the model sees. Names that the provider refuses are replaced. */
import { COMMON_NAME_RULE, type NameRule, toProviderNames } from "../definition/provider-names.ts";
import { type ToolSource, toTools } from "./from-tool.ts";
import type { Tool } from "./tool.ts";

export type { ToolSource } from "./from-tool.ts";

/** @throws TOOL_ALREADY_REGISTERED if two tools would have the same name */
export function offerTools(source: ToolSource, rule: NameRule = COMMON_NAME_RULE): ReadonlyMap<string, Tool> {
  const tools = [...new Set(toTools(source))];
  const names = toProviderNames(
    tools.map(({ name }) => name),
    rule,
  );
  return new Map(tools.map((tool, index) => [names[index] ?? tool.name, tool]));
}
