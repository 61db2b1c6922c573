/** Tools by name, for programs and for models. There is one global default registry; `createRegistry` creates others. */
import { ToolwrightError } from "../errors.ts";
import { sharedByCopies } from "../definition/package-copy.ts";
import { aToolSource } from "../definition/option-checks.ts";
import { asOptionError } from "../definition/option-table.ts";
import { COMMON_NAME_RULE, type NameRule, toProviderNames } from "../definition/provider-names.ts";
import { fromTool, type ToolLike, type ToolSource, toTools } from "./from-tool.ts";
import type { Tool } from "./tool.ts";

export interface Registry {
  /** @throws TOOL_ALREADY_REGISTERED if the name is taken */
  register(tool: ToolLike): Tool;
  get(name: string): Tool | undefined;
  all(): Tool[];
  byGroup(group: string): Tool[];
}

/** @param tools the initial tools: an array, an object by name, or another registry */
export function createRegistry(tools: ToolSource = []): Registry {
  asOptionError("createRegistry", () => aToolSource(tools, "tools"));
  return registryOn(new Map(), toTools(tools));
}

function registryOn(byName: Map<string, Tool>, tools: readonly ToolLike[] = []): Registry {
  const registry: Registry = {
    register(value) {
      const tool = fromTool(value);
      if (byName.has(tool.name)) {
        throw new ToolwrightError(
          "TOOL_ALREADY_REGISTERED",
          `A tool named "${tool.name}" is already registered.`,
          {
            details: { tool: tool.name },
          },
        );
      }
      byName.set(tool.name, tool);
      return tool;
    },
    get: (name) => byName.get(name),
    all: () => [...byName.values()],
    byGroup: (group) => [...byName.values()].filter((tool) => tool.group === group),
  };
  for (const tool of tools) registry.register(tool);
  return registry;
}

/** The only global state: tools that register themselves on import, in any copy of the package. */
export const defaultRegistry: Registry = registryOn(
  sharedByCopies("registry.1", () => new Map<string, Tool>()),
);

export function registerTool(tool: ToolLike): Tool {
  return defaultRegistry.register(tool);
}

export function getTool(name: string): Tool | undefined {
  return defaultRegistry.get(name);
}

export function getAllTools(): Tool[] {
  return defaultRegistry.all();
}

export function getToolsByGroup(group: string): Tool[] {
  return defaultRegistry.byGroup(group);
}

/**
 * The tools of a loop by the names that the model sees. Names that the provider refuses are replaced.
 * @throws TOOL_ALREADY_REGISTERED if two tools would have the same name
 */
export function offerTools(source: ToolSource, rule: NameRule = COMMON_NAME_RULE): ReadonlyMap<string, Tool> {
  const tools = [...new Set(toTools(source))];
  const names = toProviderNames(
    tools.map(({ name }) => name),
    rule,
  );
  return new Map(tools.map((tool, index) => [names[index] ?? tool.name, tool]));
}
