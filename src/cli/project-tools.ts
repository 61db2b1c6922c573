/** The tools of `toolwright.config.ts` as commands. A command of Toolwright's own is never shadowed by one of them. */
import type { Command } from "commander";
import { INPUT, type OwnOption, type OwnValues, RUN_ID } from "../adapters/commander/command-settings.ts";
import { type CommandPlan, planCommands, wordsOf } from "../adapters/commander/plan-commands.ts";
import { addToolCommands, findCommand } from "../adapters/commander/tool-commands.ts";
import { createRuntime } from "../runtime/create-runtime.ts";
import { setDefaultStore, shownStore, typedCommand } from "./command-name.ts";
import { type Config, loadConfig, runtimeOptionsOf } from "./load-config.ts";
import { DEFAULT_STORE, type StoreOption } from "../operate/store-address.ts";

/** What `withCommonOptions` adds to the other commands. */
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

/** Adds the commands of the project in this folder, if there is one. */
export async function addProjectTools(program: Command): Promise<void> {
  const config = await loadConfig(process.cwd());
  if (config === undefined) return;
  // Which store the line names is not known yet: where the config has one, every printed command says which it means.
  if (config.store !== undefined) setDefaultStore(undefined);
  const plans = placeTools(program, config).flatMap(({ plan }) => (plan === undefined ? [] : [plan]));
  addToolCommands(program, plans, {
    // A program's own options stand before the command, so its fields may have any name.
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
  /** `undefined` where no word is left for it. */
  readonly plan: CommandPlan | undefined;
  readonly note: string | undefined;
}

/** A tool whose group is a command of Toolwright's own goes by its full name. */
export function placeTools(program: Command, { tools }: Config): PlacedTool[] {
  return planCommands(tools).map((plan) => {
    const { tool, group, name, alias } = plan;
    const first = group ?? name;
    if (findCommand(program, first) === undefined) return { tool, plan, note: undefined };
    const full = [alias, name].find((word) => word !== undefined && findCommand(program, word) === undefined);
    const what = `"${first}" is a command of toolwright itself`;
    if (full === undefined) {
      return {
        tool,
        plan: undefined,
        note: `${what}, so the tool "${tool.name}" has no command. Rename it, or give it a group.`,
      };
    }
    const note = `${what}; the tool "${tool.name}" goes by: toolwright ${full}`;
    return { tool, plan: { ...plan, group: undefined, name: full, alias: undefined }, note };
  });
}

export function commandOf({ plan }: PlacedTool): string | null {
  return plan === undefined ? null : wordsOf(plan);
}

function storeOf(config: Config, values: OwnValues): StoreOption {
  return typeof values["store"] === "string" ? values["store"] : (config.store ?? DEFAULT_STORE);
}
