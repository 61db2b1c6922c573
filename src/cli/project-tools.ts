/** The tools of `toolwright.config.ts` as commands. They never shadow a built-in command. */
import type { Command } from "commander";
import { INPUT, type OwnOption, type OwnValues, RUN_ID } from "../adapters/commander/command-settings.ts";
import { type CommandPlan, planCommands, wordsOf } from "../adapters/commander/plan-commands.ts";
import { addToolCommands, findCommand } from "../adapters/commander/tool-commands.ts";
import { createRuntime } from "../runtime/create-runtime.ts";
import { commandName, setDefaultStore, shownStore, typedCommand } from "./command-name.ts";
import { type Config, loadConfig, runtimeOptionsOf } from "./load-config.ts";
import { DEFAULT_STORE, type StoreOption } from "../operate/store-address.ts";

/** The options that `withCommonOptions` adds to the other commands. */
const OWN_OPTIONS: readonly OwnOption[] = [
  INPUT,
  RUN_ID,
  {
    name: "store",
    value: "path",
    description: "a SQLite file, or postgres://… (default: the config's, else toolwright.db)",
  },
  { name: "no-color", value: undefined, description: "print no colours", isHidden: true },
  { name: "debug", value: undefined, description: "print stack traces" },
];

/** Adds the tools of the config in this folder, if there is one. */
export async function addProjectTools(program: Command): Promise<void> {
  const config = await loadConfig(process.cwd());
  if (config === undefined) return;
  // The value of --store is not parsed yet. If the config has a store, every printed command names its store.
  if (config.store !== undefined) setDefaultStore(undefined);
  const plans = placeTools(program, config).flatMap(({ plan }) => (plan === undefined ? [] : [plan]));
  addToolCommands(program, plans, {
    calledAs: commandName,
    // Options of the program come before the command, so fields of tools may have any name.
    reserved: [],
    ownOptions: OWN_OPTIONS,
    open: (values) => {
      const runtime = createRuntime({
        ...runtimeOptionsOf(config),
        store: storeOf(config, values),
        tools: config.tools,
      });
      return { runtime, [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose]() };
    },
    decideCommand: (words, values) => typedCommand(shownStore(storeOf(config, values)), words),
  });
}

export interface PlacedTool {
  readonly tool: Config["tools"][number];
  /** `undefined` if every possible command name is taken. */
  readonly plan: CommandPlan | undefined;
  readonly note: string | undefined;
}

/** If the group of a tool is a built-in command, the tool gets its full name as its command. */
export function placeTools(program: Command, { tools }: Config): PlacedTool[] {
  return planCommands(tools).map((plan) => {
    const { tool, group, name, alias } = plan;
    const first = group ?? name;
    if (findCommand(program, first) === undefined) return { tool, plan, note: undefined };
    const full = [alias, name].find((word) => word !== undefined && findCommand(program, word) === undefined);
    const what = `"${first}" is a built-in command of toolwright`;
    if (full === undefined) {
      return {
        tool,
        plan: undefined,
        note: `${what}, so the tool "${tool.name}" has no command. Rename it, or give it a group.`,
      };
    }
    const note = `${what}; use the tool "${tool.name}" with: ${commandName()} ${full}`;
    return { tool, plan: { ...plan, group: undefined, name: full, alias: undefined }, note };
  });
}

export function commandOf({ plan }: PlacedTool): string | null {
  return plan === undefined ? null : wordsOf(plan);
}

function storeOf(config: Config, values: OwnValues): StoreOption {
  return typeof values["store"] === "string" ? values["store"] : (config.store ?? DEFAULT_STORE);
}
