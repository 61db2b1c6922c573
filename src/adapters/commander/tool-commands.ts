/** Adds a command for each planned tool to a Commander program, without importing Commander. */
import type { Command } from "commander";
import { ToolwrightError } from "../../errors.ts";
import { toTerminalLine, toTerminalText } from "../../terminal/terminal-text.ts";
import { specOf } from "../../tool/create-callable.ts";
import { lazyModule } from "../../util/lazy.ts";
import { addFieldOption, addOwnOption, addPositional } from "./add-options.ts";
import { exampleLine, summaryOf } from "./command-help.ts";
import type { CommandSettings } from "./command-settings.ts";
import { answerUsage } from "./usage-errors.ts";
import { type CommandPlan, wordsOf } from "./plan-commands.ts";
import { planInput } from "./plan-input.ts";

const running = lazyModule(() => import("./run-tool.ts"));
const inventory = lazyModule(() => import("./capabilities-command.ts"));

export function addToolCommands(
  program: Command,
  plans: readonly CommandPlan[],
  settings: CommandSettings,
): void {
  const addedGroups = new Set<Command>();
  for (const plan of plans) {
    const parent = plan.group === undefined ? program : groupCommand(program, plan, addedGroups, settings);
    if (findCommand(parent, plan.name) !== undefined) throw taken(plan, wordsOf(plan));
    addToolCommand(parent, plan, plan.name, plan.isHidden, settings);
  }
  for (const { tool, group } of plans) {
    const command = group === undefined ? undefined : findCommand(program, group);
    // A group that the program defined itself keeps its action.
    if (tool.name === "capabilities_refresh" && command !== undefined && addedGroups.has(command))
      addInventory(command, tool, plans, settings);
  }
  // Aliases come last, so that they never replace a command name.
  for (const plan of plans) addFullName(program, plan, settings);
}

/** The name of the group alone shows the inventory, as `toolwright capabilities` does. */
function addInventory(
  group: Command,
  tool: CommandPlan["tool"],
  plans: readonly CommandPlan[],
  settings: CommandSettings,
): void {
  group
    .description("show what the tools of this program are for")
    .option("--refresh", "rewrite the inventory; its front matter is kept")
    .option("--json", "print one JSON document, for programs")
    .addHelpText(
      "after",
      "\nWithout a command, the inventory is printed. It is created if it does not exist.",
    )
    .action(async () => {
      const { showCapabilities } = await inventory.get();
      const tools = plans.map((plan) => plan.tool);
      await showCapabilities(group, tool, tools, settings);
    });
}

/** Makes the full name of a tool available, inside and outside its group. */
function addFullName(program: Command, plan: CommandPlan, settings: CommandSettings): void {
  const { alias, group, name } = plan;
  if (alias === undefined) return;
  const parent = group === undefined ? program : findCommand(program, group);
  if (parent !== undefined && findCommand(parent, alias) === undefined)
    findCommand(parent, name)?.alias(alias);
  if (findCommand(program, alias) === undefined) addToolCommand(program, plan, alias, true, settings);
}

export function findCommand(parent: Command, name: string): Command | undefined {
  return parent.commands.find((command) => command.name() === name || command.aliases().includes(name));
}

function addToolCommand(
  parent: Command,
  plan: CommandPlan,
  name: string,
  hidden: boolean,
  settings: CommandSettings,
): void {
  const { tool } = plan;
  const taken = new Set(["json", "help", "-h", ...settings.reserved]);
  const input = planInput(specOf(tool), taken);
  const command = parent
    .command(name, { hidden })
    .description(toTerminalText(tool.description))
    .summary(toTerminalLine(summaryOf(tool.description)));
  for (const positional of input.positionals) addPositional(command, positional);
  for (const field of input.fields) addFieldOption(command, field);
  const own = Object.fromEntries(
    settings.ownOptions.map((option) => [option.name, addOwnOption(command, option, taken)]),
  );
  command.option("--json", "print one JSON document, for programs");
  command.usage(
    [
      ...input.positionals.map(({ name, isRequired, isVariadic }) => {
        const word = `${name}${isVariadic ? "..." : ""}`;
        return isRequired ? `<${word}>` : `[${word}]`;
      }),
      "[options]",
    ].join(" "),
  );
  command.addHelpText("after", () => `\nExample:\n  ${exampleLine(command, input, settings)}`);
  answerUsage(command, settings);
  command.action(async () => {
    const { runTool } = await running.get();
    await runTool({ command, tool, input, own, settings });
  });
}

function groupCommand(
  program: Command,
  plan: CommandPlan,
  groups: Set<Command>,
  settings: CommandSettings,
): Command {
  const name = plan.group ?? "";
  const existing = findCommand(program, name);
  if (existing === undefined) {
    const added = program.command(name).description(`tools of the group ${plan.tool.group}`);
    answerUsage(added, settings);
    groups.add(added);
    return added;
  }
  // A command with subcommands is a group. Any other command would be shadowed.
  if (existing.commands.length === 0) throw taken(plan, name);
  return existing;
}

function taken({ tool }: CommandPlan, words: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_DEFINITION_INVALID",
    `The tool "${tool.name}" needs the command "${words}", which the program already has.`,
    { details: { tool: tool.name, command: words }, hint: "Rename the tool, or move it to another group." },
  );
}
