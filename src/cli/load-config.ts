/** Loads `toolwright.config.ts`: what a project offers to the command line. Only commands that need it pay for it. */
import { resolve } from "node:path";
import type { EmbeddingModelLike } from "../definition/models.ts";
import type { ToolSettings } from "../definition/context.ts";
import {
  aBoolean,
  aFullText,
  aLanguageModel,
  anEmbeddingModel,
  anIsolation,
  anObject,
  aStore,
  aToolSource,
  outputBytes,
  Problem,
  processTimeout,
  valuesOf,
} from "../definition/option-checks.ts";
import { checkAgainst, optionTable, type OptionTable } from "../definition/option-table.ts";
import { ToolwrightError } from "../errors.ts";
import { type ToolSource, toTools } from "../tool/from-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { findDistrust } from "../sandbox/isolation/untrusted-files.ts";
import { printedWord } from "../terminal/terminal-text.ts";
import { CliError } from "./cli-error.ts";
import { findConfig } from "./find-config.ts";
import { importFile, shown } from "./import-file.ts";
import { absoluteAddress, type StoreOption } from "../operate/store-address.ts";

/** What the default export may hold. */
interface GivenConfig {
  readonly tools?: ToolSource;
  readonly store?: StoreOption;
  readonly rootDir?: string;
  readonly allowNetwork?: boolean;
  readonly maxOutputBytes?: number;
  readonly toolTimeoutMs?: number;
  readonly isolation?: ToolSettings["isolation"];
  /** Files by the names that `toolwright up <name>` takes. */
  readonly workflows?: Readonly<Record<string, string>>;
  readonly model?: unknown;
  readonly embeddingModel?: EmbeddingModelLike;
  readonly mcpServers?: Record<string, unknown>;
}

export const CONFIG: OptionTable = optionTable<GivenConfig>(
  "toolwright.config",
  {
    tools: aToolSource,
    store: aStore,
    rootDir: aFullText,
    allowNetwork: aBoolean,
    maxOutputBytes: outputBytes,
    toolTimeoutMs: processTimeout,
    isolation: anIsolation,
    workflows: valuesOf(aFullText),
    model: aLanguageModel,
    embeddingModel: anEmbeddingModel,
    mcpServers: anObject,
  },
  { example: "{ tools: [ … ] }" },
);

/** The defaults of every command. Paths are absolute. */
export type ConfigSettings = Omit<GivenConfig, "tools" | "mcpServers">;

export interface Config extends ConfigSettings {
  readonly tools: Tool[];
}

/** The options of a runtime that a config sets, the store apart. */
export function runtimeOptionsOf(config: ConfigSettings | undefined) {
  const { rootDir, allowNetwork, maxOutputBytes, toolTimeoutMs, isolation, model, embeddingModel } =
    config ?? {};
  return { rootDir, allowNetwork, maxOutputBytes, toolTimeoutMs, isolation, model, embeddingModel };
}

/** With its tools, those of MCP servers included. `undefined` where the folder has none. @throws CliError */
export async function loadConfig(folder: string): Promise<Config | undefined> {
  return withConfig(folder, async (given) => ({
    ...settingsOf(given, folder),
    tools: withoutDoubles([...toTools(given.tools ?? []), ...(await remoteTools(given, folder))]),
  }));
}

/** What commands need that call no tool of the project: no server of it is started. @throws CliError */
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
      `${shown(file)} appeared while a command of an agent ran, so it was not loaded.`,
      `Read it first. To trust it: rm ${printedWord(mark)}\nTo delete it: rm ${printedWord(shown(file))}`,
    );
  }
  const { default: exported } = await importFile(file);
  if (typeof exported !== "object" || exported === null || Array.isArray(exported)) {
    throw new CliError(
      "CLI_CONFIG_INVALID",
      `${shown(file)} has no configuration as its default export.`,
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

/** Paths are relative to the folder of the file. */
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

/** Only a project that has servers pays for them. */
async function remoteTools({ mcpServers }: GivenConfig, folder: string): Promise<Tool[]> {
  if (mcpServers === undefined) return [];
  const { toolsOfServers } = await import("./mcp-servers.ts");
  return toolsOfServers(mcpServers, folder);
}

function withoutDoubles(tools: Tool[]): Tool[] {
  const names = tools.map(({ name }) => name);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined) throw new Problem("tools", `has two tools of the name "${double}".`);
  return tools;
}
