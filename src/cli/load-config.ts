/** Loads `toolwright.config.ts`: what a project offers to the command line. Only commands that need it pay for it. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { anEmbeddingModel, aLanguageModel, type EmbeddingModelLike } from "../definition/models.ts";
import {
  aFullText,
  aFunction,
  anObject,
  type Check,
  describe,
  either,
  Problem,
  refuseUnknown,
} from "../definition/option-checks.ts";
import { ToolwrightError } from "../errors.ts";
import { isPostgresAddress } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { toTools } from "../tool/from-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { findDistrust } from "../sandbox/isolation/untrusted-files.ts";
import { printedWord } from "../util/terminal-text.ts";
import { CliError } from "./cli-error.ts";
import { importFile, shown } from "./import-file.ts";

export interface Config {
  readonly tools: Tool[];
  readonly store?: string | Store;
  readonly rootDir?: string;
  readonly model?: unknown;
  readonly embeddingModel?: EmbeddingModelLike;
  readonly mcpServers?: Record<string, unknown>;
}

const CONFIG_FILES = ["ts", "mts", "js", "mjs"].map((ending) => `toolwright.config.${ending}`);

/** `undefined` where the folder has none. @throws CliError */
export async function loadConfig(folder: string): Promise<Config | undefined> {
  const file = CONFIG_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
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
    return await toConfig(exported as Readonly<Record<string, unknown>>, folder);
  } catch (error) {
    const hint = ToolwrightError.is(error) ? error.hint : "Correct it, then try again.";
    if (error instanceof Problem)
      throw new CliError("CLI_CONFIG_INVALID", `${shown(file)}: ${error.field} ${error.message}`, hint);
    if (ToolwrightError.is(error))
      throw new CliError("CLI_CONFIG_INVALID", `${shown(file)}: ${error.message}`, hint);
    throw error;
  }
}

const CHECKS: Readonly<Record<Exclude<keyof Config, "tools">, Check>> = {
  store: either("a path, a postgres:// address or an open store", aFullText, (value, field) => {
    anObject(value, field);
    aFunction((value as Record<string, unknown>)["transaction"], field);
  }),
  rootDir: aFullText,
  model: aLanguageModel,
  embeddingModel: anEmbeddingModel,
  mcpServers: anObject,
};

async function toConfig(given: Readonly<Record<string, unknown>>, folder: string): Promise<Config> {
  refuseUnknown(given, ["tools", ...Object.keys(CHECKS)], "", "toolwright.config");
  for (const [name, check] of Object.entries(CHECKS)) {
    if (given[name] !== undefined) check(given[name], name);
  }
  const { tools = [], store, rootDir, ...rest } = given;
  if (typeof tools !== "object" || tools === null) {
    throw new Problem("tools", "must be a list of tools, or an object of tools by name.");
  }
  // Spread, so that a hole in a list is looked at too.
  const list = Array.isArray(tools) ? [...(tools as unknown[])] : tools;
  for (const [name, tool] of Object.entries(list)) {
    if (typeof tool !== "object" && typeof tool !== "function")
      throw new Problem(`tools.${name}`, `must be a tool, not ${describe(tool)}.`);
  }
  return {
    ...rest,
    tools: withoutDoubles([...toTools(list as readonly object[]), ...(await remoteTools(given, folder))]),
    // Paths are meant from where the file is.
    ...(rootDir === undefined ? {} : { rootDir: resolve(folder, rootDir as string) }),
    ...(store === undefined
      ? {}
      : { store: typeof store === "string" ? placed(store, folder) : (store as Store) }),
  };
}

/** Only a project that has servers pays for them. */
async function remoteTools(
  { mcpServers }: Readonly<Record<string, unknown>>,
  folder: string,
): Promise<Tool[]> {
  if (mcpServers === undefined) return [];
  const { toolsOfServers } = await import("./mcp-servers.ts");
  return toolsOfServers(mcpServers as Record<string, unknown>, folder);
}

function placed(store: string, folder: string): string {
  return isPostgresAddress(store) || store === ":memory:" ? store : resolve(folder, store);
}

function withoutDoubles(tools: Tool[]): Tool[] {
  const names = tools.map(({ name }) => name);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined) throw new Problem("tools", `has two tools of the name "${double}".`);
  return tools;
}
