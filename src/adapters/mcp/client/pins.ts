/** What a server's tools looked like when somebody agreed to use them: a tool that has changed since is refused. */
import { anInteger, aSignal } from "../../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../../definition/option-table.ts";
import { canonicalText } from "../../../util/canonical.ts";
import { digest } from "../../../util/hash.ts";
import { listRemoteTools, type ListOptions } from "./list-remote-tools.ts";
import type { McpClient, RemoteTool } from "./mcp-client.ts";

export const PIN_OPTIONS: OptionTable = optionTable<ListOptions>("pinMcpTools", {
  timeoutMs: anInteger(1),
  maxTools: anInteger(1),
  maxAnswerBytes: anInteger(1),
  signal: aSignal,
});

/** In the order in which they stand in a pin. */
const PARTS = ["description", "inputSchema", "outputSchema"] as const;

/** One digest for each part, so that a change can be named. */
export function pinOf(tool: RemoteTool): string {
  return PARTS.map((part) =>
    digest(["mcp pin", tool.name, part, canonicalText(tool[part])]).slice(0, 22),
  ).join(".");
}

/**
 * The pins of all tools that a server offers now, for `importMcpTools(client, { pins })`. Keep them with the program.
 */
export async function pinMcpTools(
  client: McpClient,
  options: ListOptions = {},
): Promise<Readonly<Record<string, string>>> {
  checkOptions(PIN_OPTIONS, options);
  const { tools } = await listRemoteTools(client, options);
  return Object.fromEntries(tools.map((tool) => [tool.name, pinOf(tool)]));
}

/** What is not as it was pinned, in words; `undefined` where all is. */
export function changeOf(tool: RemoteTool, pins: Readonly<Record<string, string>>): string | undefined {
  const pin = Object.hasOwn(pins, tool.name) ? pins[tool.name] : undefined;
  if (pin === undefined) return "it was not pinned at all";
  const now = pinOf(tool).split(".");
  const before = pin.split(".");
  const changed = PARTS.filter((_part, index) => now[index] !== before[index]);
  return changed.length === 0 ? undefined : `its ${changed.join(" and its ")} changed`;
}
