/** Tools by the names that a model is told: mapped where a provider refuses them, and back by this very map. */
import { COMMON_NAME_RULE, type NameRule, toProviderNames } from "../definition/provider-names.ts";
import { type ToolLike, toTools } from "./from-tool.ts";
import type { Registry } from "./registry.ts";
import type { Tool } from "./tool.ts";

/** A list, an object keyed by name, or a registry. */
export type ToolSource = readonly ToolLike[] | Readonly<Record<string, ToolLike>> | Registry;

/** @throws TOOL_ALREADY_REGISTERED when two tools cannot be told apart */
export function offerTools(source: ToolSource, rule: NameRule = COMMON_NAME_RULE): ReadonlyMap<string, Tool> {
  const tools = [...new Set(isRegistry(source) ? source.all() : toTools(source))];
  const names = toProviderNames(
    tools.map(({ name }) => name),
    rule,
  );
  return new Map(tools.map((tool, index) => [names[index] ?? tool.name, tool]));
}

function isRegistry(source: ToolSource): source is Registry {
  return "all" in source && typeof source.all === "function" && "register" in source;
}
