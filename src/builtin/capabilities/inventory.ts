/** The tools of a project for an inventory. Descriptions are untrusted, so they are cut. */
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { messageOf } from "../../invoke/error-record.ts";
import { specOf } from "../../tool/create-callable.ts";
import { getAllTools } from "../../tool/registry.ts";
import { cleanLine } from "../../terminal/clean-text.ts";

export interface InventoryTool {
  readonly name: string;
  readonly group: string;
  readonly description: string;
}

const UNGROUPED = "general";
const MOST_TOOLS = 1_000;

/** Given and registered tools, without duplicates, in a fixed order. */
export function listTools(named: readonly ToolSpec[]): InventoryTool[] {
  const specs = new Map([...getAllTools().map(specOf), ...named].map((spec) => [spec.name, spec]));
  return sorted([...specs.values()].map(({ name, group, description }) => toEntry(name, group, description)));
}

interface McpClient {
  listTools(): unknown;
}

/** Tools of MCP servers that calls can reach through the capability `mcpxClient`. */
export async function listMcpTools(
  client: unknown,
): Promise<{ readonly tools: InventoryTool[]; readonly note?: string }> {
  if (!isMcpClient(client)) return { tools: [] };
  try {
    const answer: unknown = await client.listTools();
    const list: unknown = Array.isArray(answer) ? answer : (answer as { tools?: unknown } | null)?.tools;
    const entries = Array.isArray(list) ? list.flatMap(fromMcp) : [];
    return { tools: sorted(entries) };
  } catch (error) {
    return { tools: [], note: `Tools of MCP servers could not be listed: ${cleanLine(messageOf(error))}` };
  }
}

function isMcpClient(value: unknown): value is McpClient {
  return (
    typeof value === "object" &&
    value !== null &&
    "listTools" in value &&
    typeof value.listTools === "function"
  );
}

/** `{ name, description }`, or `{ server, tool: { name, description } }`. */
function fromMcp(entry: unknown): InventoryTool[] {
  if (typeof entry !== "object" || entry === null) return [];
  const { server, tool = entry } = entry as { server?: unknown; tool?: unknown };
  if (typeof tool !== "object" || tool === null) return [];
  const { name, description } = tool as { name?: unknown; description?: unknown };
  if (typeof name !== "string") return [];
  return [
    toEntry(
      name,
      typeof server === "string" ? server : "mcp",
      typeof description === "string" ? description : name,
    ),
  ];
}

function toEntry(name: string, group: string | undefined, description: string): InventoryTool {
  return {
    name: cleanLine(name, 64),
    group: cleanLine(group ?? "", 64) || UNGROUPED,
    description: cleanLine(description),
  };
}

function sorted(tools: InventoryTool[]): InventoryTool[] {
  const keyOf = ({ group, name }: InventoryTool): string => `${group} ${name}`;
  return tools
    .sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : keyOf(one) > keyOf(other) ? 1 : 0))
    .slice(0, MOST_TOOLS);
}
