/** Where a folder's config is. Apart from what loads it, so that a command in a folder without one pays for neither. */
import { existsSync } from "node:fs";
import { join } from "node:path";

const CONFIG_FILES = ["ts", "mts", "js", "mjs"].map((ending) => `toolwright.config.${ending}`);

export function findConfig(folder: string): string | undefined {
  return CONFIG_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
}
