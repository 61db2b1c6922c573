/** `registerToolsAsCLI`: adds a command for every tool of a registry to a Commander program. */
import type { Command } from "commander";
import { aRuntime, withMethods } from "../../definition/option-checks.ts";
import { asOptionError, checkOptions, optionTable, type OptionTable } from "../../definition/option-table.ts";
import { createRuntime } from "../../runtime/create-runtime.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { defaultRegistry, type Registry } from "../../tool/registry.ts";
import { lazyModule } from "../../util/lazy.ts";
import { type CommandSettings, INPUT, RUN_ID } from "./command-settings.ts";
import { planCommands } from "./plan-commands.ts";
import { addToolCommands } from "./tool-commands.ts";

export interface RegisterToolsOptions {
  /** Default: the global registry that `registerTool` fills. */
  readonly registry?: Registry | undefined;
  /** The runtime for the calls; it stays open. Default: one on `toolwright.db`, opened and closed by each call. */
  readonly runtime?: Runtime | undefined;
}

export const REGISTER_TOOLS_OPTIONS: OptionTable = optionTable<RegisterToolsOptions>(
  "registerToolsAsCLI",
  { registry: withMethods("a registry, such as createRegistry(tools)", "all"), runtime: aRuntime },
  { example: "{ registry, runtime }" },
);

const aProgram = withMethods("a Commander program, such as new Command()", "command", "option", "parseAsync");

/**
 * Adds `<group> <name>` for each tool, with positionals and options from its schema.
 *
 * @example
 * const program = new Command("shop");
 * registerToolsAsCLI(program, { registry: createRegistry([placeOrder]) });
 * await program.parseAsync();
 * // shop place-order apple --quantity 2 --json
 */
export function registerToolsAsCLI(program: Command, options: RegisterToolsOptions = {}): void {
  asOptionError("registerToolsAsCLI", () => aProgram(program, "program"));
  checkOptions(REGISTER_TOOLS_OPTIONS, options);
  const { registry = defaultRegistry, runtime } = options;
  const settings: CommandSettings = {
    // Commander accepts the options of the program at any position.
    reserved: namesOfOptions(program),
    ownOptions: [INPUT, RUN_ID],
    open: () => opened(runtime, registry),
    decideCommand: async (words, _values, used) => {
      const { decideCommand } = await deciding.get();
      return (await decideCommand(used, words, "here")) ?? IN_MEMORY;
    },
  };
  addToolCommands(program, planCommands(registry.all()), settings);
}

/** No command can open a store in memory. */
const IN_MEMORY = "runtime.resolveToolApproval() in this program, since its store is in memory";

const deciding = lazyModule(() => import("../../runtime/decide-command.ts"));

function opened(given: Runtime | undefined, registry: Registry) {
  const runtime = given ?? createRuntime({ tools: registry.all() });
  return {
    runtime,
    [Symbol.asyncDispose]: async () => {
      if (given === undefined) await runtime[Symbol.asyncDispose]();
    },
  };
}

function namesOfOptions(program: Command): string[] {
  const own = program.options.flatMap(({ short, long }) => [short ?? "", long?.replace(/^--/, "") ?? ""]);
  const above = program.parent === null ? [] : namesOfOptions(program.parent);
  return [...own, ...above].filter((name) => name !== "");
}
