/** Reads the inventory of a project's tools. Writes it first if there is none, or if asked to. */
import { resolve } from "node:path";
import { readCapabilities } from "../runtime/capabilities-file.ts";
import { specOf } from "../tool/create-callable.ts";
import { listTools } from "../builtin/capabilities/inventory.ts";
import { type Refreshed, refreshCapabilities } from "../builtin/capabilities/refresh-capabilities.ts";
import { CliError } from "./cli-error.ts";
import { loadConfig } from "./load-config.ts";

export interface ShownCapabilities {
  readonly text: string;
  /** `undefined` if the file was not written. */
  readonly refreshed: Refreshed | undefined;
}

export async function showCapabilities(folder: string, refresh: boolean): Promise<ShownCapabilities> {
  // The config is a program: do not run it just to show a file that exists.
  const written = refresh ? undefined : await readCapabilities(folder);
  if (written !== undefined) return { text: written, refreshed: undefined };
  const config = await loadConfig(folder);
  const rootDir = resolve(folder, config?.rootDir ?? ".");
  const known = refresh ? undefined : await readCapabilities(rootDir);
  if (known !== undefined) return { text: known, refreshed: undefined };
  if (config === undefined) {
    throw new CliError(
      "CLI_CONFIG_MISSING",
      `There is no toolwright.config.ts in ${folder}, so its tools are unknown.`,
      "Write one: export default { tools: [ … ] };",
    );
  }
  const tools = listTools(config.tools.map(specOf));
  const refreshed = await refreshCapabilities({ rootDir, tools, model: config.model });
  return { text: (await readCapabilities(rootDir)) ?? "", refreshed };
}
