/** Tools under the names that a provider takes, and back. */
import { toProviderNames } from "../definition/provider-names.ts";
import { type ToolLike, toTools } from "./from-tool.ts";
import type { Registry } from "./registry.ts";
import type { Tool } from "./tool.ts";

/** A list, an object keyed by name, or a registry. */
export type ToolSource = readonly ToolLike[] | Readonly<Record<string, ToolLike>> | Registry;

/** Tools by the names that the model is told. @throws TOOL_ALREADY_REGISTERED */
export function offerTools(source: ToolSource): ReadonlyMap<string, Tool> {
  const tools = [...new Set(isRegistry(source) ? source.all() : toTools(source))];
  const names = toProviderNames(tools.map(({ name }) => name));
  return new Map(tools.map((tool, index) => [names[index] ?? tool.name, tool]));
}

function isRegistry(source: ToolSource): source is Registry {
  return "all" in source && typeof source.all === "function" && "register" in source;
}
