/**
 * Assigns commands to tools: `<group> <name>`, with the name without the group's prefix, and the full name as an
 * alias.
 */
import { ToolwrightError } from "../../errors.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { Tool } from "../../tool/tool.ts";

export interface CommandPlan {
  readonly tool: Tool;
  readonly group: string | undefined;
  readonly name: string;
  /** The tool's full name, if it is a valid word and differs from the name of the command. */
  readonly alias: string | undefined;
  readonly isHidden: boolean;
}

/** @throws TOOL_DEFINITION_INVALID if two tools would get the same command */
export function planCommands(tools: readonly Tool[]): CommandPlan[] {
  const plans = tools.map(planCommand);
  const byWords = new Map<string, Tool>();
  for (const { tool, group, name } of plans) {
    const words = wordsOf({ group, name });
    const other = byWords.get(words);
    if (other !== undefined) throw clash(words, `the tools "${other.name}" and "${tool.name}"`);
    byWords.set(words, tool);
  }
  for (const { tool, group } of plans) {
    const other = group === undefined ? undefined : byWords.get(group);
    if (other !== undefined)
      throw clash(group ?? "", `the tool "${other.name}" and the group of the tool "${tool.name}"`);
  }
  return plans;
}

export function wordsOf({ group, name }: Pick<CommandPlan, "group" | "name">): string {
  return group === undefined ? name : `${group} ${name}`;
}

function planCommand(tool: Tool): CommandPlan {
  const { cli } = specOf(tool);
  const group = tool.group === undefined ? undefined : typed(tool, "group", tool.group);
  const name = typed(tool, "name", withoutPrefix(tool.name, tool.group));
  return {
    tool,
    group,
    name,
    alias: tool.name !== name && isWord(tool.name) ? tool.name : undefined,
    isHidden: cli.hidden === true,
  };
}

function withoutPrefix(name: string, group: string | undefined): string {
  if (group === undefined || !name.startsWith(group)) return name;
  const rest = name.slice(group.length);
  return /^[_.-]./.test(rest) ? rest.slice(1) : name;
}

function typed(tool: Tool, option: string, text: string): string {
  const word = toKebab(text);
  if (word !== "") return word;
  throw new ToolwrightError(
    "TOOL_DEFINITION_INVALID",
    `Tool "${tool.name}": ${option} ${JSON.stringify(text)} contains no letter or digit, so it cannot be a command.`,
    { details: { tool: tool.name, field: option } },
  );
}

function clash(words: string, who: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_DEFINITION_INVALID",
    `The command "${words}" is ambiguous: ${who} both need it.`,
    {
      details: { command: words },
      hint: "Rename one of them, or move it to another group.",
    },
  );
}

/** `maxDepth`, `max_depth` and `shop.MaxDepth` become `max-depth` and `shop-max-depth`. */
export function toKebab(name: string): string {
  return name
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1-$2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1-$2")
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .toLowerCase();
}

/** Whether Commander accepts the name unchanged. */
export function isWord(name: string): boolean {
  return /^[\p{L}\p{N}](?:-?[\p{L}\p{N}._])*$/u.test(name);
}
