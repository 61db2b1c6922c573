/** `registerToolsAsCLI`: a command for every tool of a registry, on a Commander program of yours. */
import { relative, resolve } from "node:path";
import type { Command } from "commander";
import { createRuntime, hostOf } from "../../runtime/create-runtime.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { DEFAULT_STORE } from "../../store/open-store.ts";
import { defaultRegistry, type Registry } from "../../tool/registry.ts";
import { printedWord } from "../../util/terminal-text.ts";
import { type CommandSettings, INPUT, RUN_ID } from "./command-settings.ts";
import { planCommands } from "./plan-commands.ts";
import { addToolCommands } from "./tool-commands.ts";

export interface RegisterToolsOptions {
  /** Default: the one that `registerTool` fills. */
  readonly registry?: Registry | undefined;
  /** What calls run in; it stays open. Default: one on `toolwright.db`, opened and closed by each call. */
  readonly runtime?: Runtime | undefined;
}

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
  const { registry = defaultRegistry, runtime } = options;
  const settings: CommandSettings = {
    // Commander takes a program's own options wherever they stand.
    reserved: namesOfOptions(program),
    ownOptions: [INPUT, RUN_ID],
    open: () => opened(runtime, registry),
    decideCommand: async (words, _values, used) =>
      ["npx toolwright", ...words.map(printedWord), ...(await storeWords(used))].join(" "),
  };
  addToolCommands(program, planCommands(registry.all()), settings);
}

function opened(given: Runtime | undefined, registry: Registry) {
  const runtime = given ?? createRuntime({ tools: registry.all() });
  return {
    runtime,
    [Symbol.asyncDispose]: async () => {
      if (given === undefined) await runtime[Symbol.asyncDispose]();
    },
  };
}

/** `--store …` for a store that the command would not look into by itself. */
async function storeWords(runtime: Runtime): Promise<string[]> {
  // Where a runtime of another kind keeps its records is not known here.
  const host = await hostOf(runtime).catch(() => undefined);
  if (host === undefined) return [];
  const [file] = host.settings.protectedPaths;
  if (file === undefined) return host.store.dialect === "postgres" ? ["--store", "postgres://…"] : [];
  if (file === resolve(DEFAULT_STORE)) return [];
  const near = relative(process.cwd(), file);
  return ["--store", printedWord(near.startsWith("..") ? file : near)];
}

function namesOfOptions(program: Command): string[] {
  const own = program.options.flatMap(({ short, long }) => [short ?? "", long?.replace(/^--/, "") ?? ""]);
  const above = program.parent === null ? [] : namesOfOptions(program.parent);
  return [...own, ...above].filter((name) => name !== "");
}
