/** `<program> capabilities`: without a command, the group of `capabilities_refresh` shows the inventory. */
import type { Command } from "commander";
import { readCapabilities } from "../../runtime/capabilities-file.ts";
import { createRuntime, hostOf } from "../../runtime/create-runtime.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Tool } from "../../tool/tool.ts";
import { reserveStdout } from "../../terminal/reserve-stdout.ts";
import { toTerminalJson, toTerminalText } from "../../terminal/terminal-text.ts";
import { renderError } from "./render-outcome.ts";
import type { CommandSettings } from "./command-settings.ts";

/** @param refresh the tool that writes the inventory */
export async function showCapabilities(
  group: Command,
  refresh: Tool,
  tools: readonly Tool[],
  settings: CommandSettings,
): Promise<void> {
  const screen = group.configureOutput();
  const isJson = group.optsWithGlobals()["json"] === true;
  const restore = isJson ? reserveStdout() : () => undefined;
  try {
    await using opened = await settings.open({});
    const shown = await read(opened.runtime, refresh, tools, group.opts()["refresh"] === true);
    restore();
    screen.writeOut?.(isJson ? `${toTerminalJson(shown)}\n` : `${toTerminalText(shown.text)}\n`);
  } catch (error) {
    restore();
    const { json, complaint, exitCode } = renderError(error, { command: group, isDebug: false });
    if (isJson) screen.writeOut?.(`${toTerminalJson(json)}\n`);
    screen.writeErr?.(complaint);
    process.exitCode = exitCode;
  }
}

async function read(runtime: Runtime, refresh: Tool, tools: readonly Tool[], isForced: boolean) {
  const host = await hostOf(runtime);
  const { rootDir } = host.settings;
  const written = isForced ? undefined : await readCapabilities(rootDir);
  if (written !== undefined) return { text: written, refreshed: null };
  if (host.tools.length > 0) return refreshed(runtime, refresh, rootDir);
  // The given runtime has no tools, so its inventory would be empty.
  await using own = createRuntime({
    store: host.store,
    rootDir,
    model: host.models.language,
    tools: [...tools],
  });
  return refreshed(own, refresh, rootDir);
}

async function refreshed(runtime: Runtime, refresh: Tool, rootDir: string) {
  const outcome = await runtime.call(refresh, {});
  if (outcome.status !== "success")
    throw outcome.status === "error" ? outcome.error : new Error("The inventory waits for approval.");
  return { text: (await readCapabilities(rootDir)) ?? "", refreshed: outcome.output };
}
