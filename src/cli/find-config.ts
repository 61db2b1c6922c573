/** Finds the config of a folder. Separate from the loader, so that commands without a config do not load it. */
import { existsSync } from "node:fs";
import { join } from "node:path";

const CONFIG_FILES = ["ts", "mts", "js", "mjs"].map((ending) => `toolwright.config.${ending}`);

export function findConfig(folder: string): string | undefined {
  return CONFIG_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
}
