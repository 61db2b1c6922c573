/** Loads the settings of this folder's config, for commands that run workflows. */
import { findConfig } from "./find-config.ts";
import type { ConfigSettings } from "./load-config.ts";
import type { Screen } from "./screen.ts";

/** With --json, stdout holds the result only, so output of the config goes to stderr. */
export async function loadSettingsFor(screen: Screen): Promise<ConfigSettings | undefined> {
  if (findConfig(process.cwd()) === undefined) return undefined;
  const { loadSettings } = await import("./load-config.ts");
  const { reserveStdout } = await import("../terminal/reserve-stdout.ts");
  const restore = screen.isJson ? reserveStdout() : () => undefined;
  return loadSettings(process.cwd()).finally(restore);
}
