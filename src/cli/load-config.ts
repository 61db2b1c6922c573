/** Loads `toolwright.config.*` of a folder, and says in one sentence what is wrong with it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../invoke/error-record.ts";
import type { Store } from "../store/store.ts";
import { type ToolLike, toTools } from "../tool/from-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { CliError } from "./cli-error.ts";

export interface Config {
  readonly tools: Tool[];
  readonly store?: string | Store;
  readonly rootDir?: string;
  readonly model?: unknown;
  readonly mcpServers?: Record<string, unknown>;
}

const NAMES = ["ts", "tsx", "mts", "js", "jsx", "mjs"].map((ending) => `toolwright.config.${ending}`);

/** `undefined` where the folder has none. */
export async function loadConfig(folder: string): Promise<Config | undefined> {
  const name = NAMES.find((one) => existsSync(join(folder, one)));
  if (name === undefined) return undefined;
  await import("../load/register.ts");
  try {
    const exported = (await import(pathToFileURL(join(folder, name)).href)) as Record<string, unknown>;
    return configOf(exported["default"]);
  } catch (error) {
    throw new CliError("CLI_CONFIG_INVALID", `${name} cannot be used: ${messageOf(error)}`);
  }
}

function configOf(given: unknown): Config {
  if (typeof given !== "object" || given === null || !("tools" in given)) {
    throw new Error("write: export default { tools: [ … ] };");
  }
  return { ...given, tools: toTools(given.tools as readonly ToolLike[] | Record<string, ToolLike>) };
}
