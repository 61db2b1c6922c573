/** Pins record the reviewed definitions of a server's tools: a tool that has changed since then is refused. */
import { anInteger, aSignal } from "../../../definition/option-checks.ts";
import {
  asOptionError,
  checkOptions,
  optionTable,
  type OptionTable,
} from "../../../definition/option-table.ts";
import { canonicalText } from "../../../util/canonical.ts";
import { digest } from "../../../util/hash.ts";
import { listRemoteTools, type ListOptions } from "./list-remote-tools.ts";
import { anMcpClient, type McpClient, type RemoteTool } from "./mcp-client.ts";

export const PIN_OPTIONS: OptionTable = optionTable<ListOptions>("pinMcpTools", {
  timeoutMs: anInteger(1),
  maxTools: anInteger(1),
  maxAnswerBytes: anInteger(1),
  signal: aSignal,
});

/** In the order of their digests in a pin. */
const PARTS = ["description", "inputSchema", "outputSchema"] as const;

/** One digest per part, so that an error can name the part that changed. */
export function pinOf(tool: RemoteTool): string {
  return PARTS.map((part) =>
    digest(["mcp pin", tool.name, part, canonicalText(tool[part])]).slice(0, 22),
  ).join(".");
}

/**
 * Returns the pins of all current tools of a server, for `importMcpTools(client, { pins })`. Store them with the
 * program.
 */
export async function pinMcpTools(
  client: McpClient,
  options: ListOptions = {},
): Promise<Readonly<Record<string, string>>> {
  asOptionError(PIN_OPTIONS.surface, () => anMcpClient(client, "client"));
  checkOptions(PIN_OPTIONS, options);
  const { tools } = await listRemoteTools(client, options);
  return Object.fromEntries(tools.map((tool) => [tool.name, pinOf(tool)]));
}

/** Describes what changed since the tool was pinned; `undefined` if nothing did. */
export function changeOf(tool: RemoteTool, pins: Readonly<Record<string, string>>): string | undefined {
  const pin = Object.hasOwn(pins, tool.name) ? pins[tool.name] : undefined;
  if (pin === undefined) return "it is not pinned";
  const now = pinOf(tool).split(".");
  const before = pin.split(".");
  const changed = PARTS.filter((_part, index) => now[index] !== before[index]);
  return changed.length === 0 ? undefined : `its ${changed.join(" and its ")} changed`;
}
