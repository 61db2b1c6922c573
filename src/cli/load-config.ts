/** Loads `toolwright.config.ts`. Only commands that need it import this file. */
import { resolve } from "node:path";
import type { EmbeddingModelLike } from "../definition/models.ts";
import { SETTING_OPTIONS, type SettingOptions } from "../definition/tool-settings.ts";
import {
  aFullText,
  aFunction,
  aLanguageModel,
  anEmbeddingModel,
  anObject,
  aStore,
  aToolSource,
  Problem,
  valuesOf,
} from "../definition/option-checks.ts";
import { checkAgainst, optionTable, type OptionTable } from "../definition/option-table.ts";
import { ToolwrightError } from "../errors.ts";
import type { TelemetryOption } from "../invoke/telemetry.ts";
import { aTelemetry, RECORDING, type RuntimeOptions } from "../runtime/options.ts";
import { type ToolSource, toTools } from "../tool/from-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { findDistrust } from "../sandbox/protection/untrusted-files.ts";
import type { Program } from "../worker/options.ts";
import { printedWord } from "../terminal/terminal-text.ts";
import { CliError } from "./cli-error.ts";
import { findConfig } from "./find-config.ts";
import { importFile, shown } from "./import-file.ts";
import { absoluteAddress, type StoreOption } from "../operate/store-address.ts";

/** The default export of the config. */
interface GivenConfig extends SettingOptions {
  readonly tools?: ToolSource;
  readonly store?: StoreOption;
  readonly rootDir?: string;
  readonly recording?: "keep" | "off";
  /** Workflow files by name, for `toolwright up <name>`. */
  readonly workflows?: Readonly<Record<string, string>>;
  /** Functions of `{ runId, input, signal, runtime }`, for workers. */
  readonly programs?: Readonly<Record<string, Program>>;
  /** The same for runs of agents. */
  readonly agents?: Readonly<Record<string, Program>>;
  readonly model?: unknown;
  readonly embeddingModel?: EmbeddingModelLike;
  readonly mcpServers?: Record<string, unknown>;
  /** What `openTelemetry()` of `toolwright/otel` returns. */
  readonly telemetry?: TelemetryOption;
}

export const CONFIG: OptionTable = optionTable<GivenConfig>(
  "toolwright.config",
  {
    tools: aToolSource,
    store: aStore,
    rootDir: aFullText,
    ...SETTING_OPTIONS,
    recording: RECORDING,
    workflows: valuesOf(aFullText),
    programs: valuesOf(aFunction),
    agents: valuesOf(aFunction),
    model: aLanguageModel,
    embeddingModel: anEmbeddingModel,
    mcpServers: anObject,
    telemetry: aTelemetry,
  },
  { example: "{ tools: [ … ] }" },
);

/** Defaults for every command. Paths are absolute. */
export type ConfigSettings = Omit<GivenConfig, "tools" | "mcpServers">;

export interface Config extends ConfigSettings {
  readonly tools: Tool[];
}

/** The runtime options that a config sets, without the store and the tools: all that commands do not use themselves. */
export function runtimeOptionsOf(config: Partial<Config> = {}): Omit<RuntimeOptions, "store" | "tools"> {
  const {
    tools: _tools,
    store: _store,
    workflows: _flows,
    programs: _programs,
    agents: _agents,
    ...rest
  } = config;
  return rest;
}

/** The config with its tools, including tools of MCP servers. `undefined` if there is no config. @throws CliError */
export async function loadConfig(folder: string): Promise<Config | undefined> {
  return withConfig(folder, async (given) => ({
    ...settingsOf(given, folder),
    tools: withUniqueNames([...toTools(given.tools ?? []), ...(await remoteTools(given, folder))]),
  }));
}

/** The config without its tools, for commands that call none: starts no MCP server. @throws CliError */
export async function loadSettings(folder: string): Promise<ConfigSettings | undefined> {
  return withConfig(folder, (given) => settingsOf(given, folder));
}

async function withConfig<T>(
  folder: string,
  read: (given: GivenConfig) => T | Promise<T>,
): Promise<T | undefined> {
  const file = findConfig(folder);
  if (file === undefined) return undefined;
  const mark = findDistrust(file);
  if (mark !== undefined) {
    throw new CliError(
      "TOOL_PATH_PROTECTED",
      `${shown(file)} was created or replaced while an agent ran a command, so it was not loaded.`,
      `Read it first. To trust it: rm ${printedWord(mark)}\nTo delete it: rm ${printedWord(shown(file))}`,
    );
  }
  const { default: exported } = await importFile(file);
  if (typeof exported !== "object" || exported === null || Array.isArray(exported)) {
    throw new CliError(
      "CLI_CONFIG_INVALID",
      `${shown(file)} has no default export with a configuration.`,
      "Write: export default { tools: [ … ] };",
    );
  }
  try {
    checkAgainst(CONFIG, exported);
    return await read(exported);
  } catch (error) {
    const hint = ToolwrightError.is(error) ? error.hint : "Correct it, then try again.";
    if (error instanceof Problem)
      throw new CliError("CLI_CONFIG_INVALID", `${shown(file)}: ${error.sentence}`, hint);
    if (ToolwrightError.is(error))
      throw new CliError("CLI_CONFIG_INVALID", `${shown(file)}: ${error.message}`, hint);
    throw error;
  }
}

/** Resolves paths against the folder of the config. */
function settingsOf(given: GivenConfig, folder: string): ConfigSettings {
  const { tools: _tools, mcpServers: _servers, store, rootDir, workflows, ...rest } = given;
  return {
    ...rest,
    ...(rootDir === undefined ? {} : { rootDir: resolve(folder, rootDir) }),
    ...(store === undefined
      ? {}
      : { store: typeof store === "string" ? absoluteAddress(store, folder) : store }),
    ...(workflows === undefined
      ? {}
      : {
          workflows: Object.fromEntries(
            Object.entries(workflows).map(([name, file]) => [name, resolve(folder, file)]),
          ),
        }),
  };
}

/** Imported only if the project has MCP servers. */
async function remoteTools({ mcpServers }: GivenConfig, folder: string): Promise<Tool[]> {
  if (mcpServers === undefined) return [];
  const { toolsOfServers } = await import("./mcp-servers.ts");
  return toolsOfServers(mcpServers, folder);
}

function withUniqueNames(tools: Tool[]): Tool[] {
  const names = tools.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new Problem("tools", `has two tools named "${duplicate}".`);
  return tools;
}
