/** An inventory without a model: one line for each group, from the descriptions of its tools. */
import { cleanLine } from "../../terminal/clean-text.ts";
import type { InventoryTool } from "./inventory.ts";

const MOST_GROUPS = 50;
const LONGEST_THEME = 500;

export function summarise(tools: readonly InventoryTool[]): string {
  if (tools.length === 0) return "# Capabilities\n\nThis project has no tools yet.\n";
  const groups = Map.groupBy(tools, ({ group }) => group);
  const lines = [...groups].map(
    ([group, members]) =>
      `- **${titleOf(group)}**: ${cleanLine(members.map(purposeOf).join("; "), LONGEST_THEME)}`,
  );
  const rest = lines.length - MOST_GROUPS;
  const more = rest > 0 ? [`- and ${rest} further ${rest === 1 ? "theme" : "themes"}`] : [];
  return `# Capabilities\n\n${[...lines.slice(0, MOST_GROUPS), ...more].join("\n")}\n`;
}

function titleOf(group: string): string {
  const words = group.replaceAll(/[_.-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The first sentence of the description. Tool names are omitted: agents look them up when needed. */
function purposeOf({ name, description }: InventoryTool): string {
  if (description === name) return name.replaceAll(/[_.-]+/g, " ");
  const [sentence = description] = /^.*?[.!?](?=\s|$)/.exec(description) ?? [];
  return sentence.replace(/[.;]$/, "");
}
