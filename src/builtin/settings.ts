/** The limits and paths that the tool functions work within: from the current context, or the defaults. */
import { getToolContext } from "../definition/context.ts";
import { DEFAULT_SETTINGS, type ToolSettings } from "../definition/tool-settings.ts";
import { currentAmbient } from "../invoke/ambient.ts";

export interface CurrentSettings extends ToolSettings {
  readonly signal: AbortSignal | undefined;
}

export function currentSettings(): CurrentSettings {
  const context = getToolContext();
  return {
    rootDir: context?.rootDir ?? process.cwd(),
    allowNetwork: context?.allowNetwork ?? DEFAULT_SETTINGS.allowNetwork,
    maxOutputBytes: context?.maxOutputBytes ?? DEFAULT_SETTINGS.maxOutputBytes,
    timeoutMs: context?.timeoutMs ?? DEFAULT_SETTINGS.timeoutMs,
    isolation: context?.isolation ?? DEFAULT_SETTINGS.isolation,
    protectedPaths: context?.protectedPaths ?? DEFAULT_SETTINGS.protectedPaths,
    signal: context?.signal,
  };
}

/** Includes the files that SQLite keeps next to its database. */
export function hiddenFiles(settings: ToolSettings): string[] {
  return settings.protectedPaths.flatMap((path) =>
    ["", "-wal", "-shm", "-journal"].map((suffix) => path + suffix),
  );
}

/** Records the isolation tier of the process in the row of the current call. */
export function reportIsolation(tier: string): void {
  const call = currentAmbient()?.ofTry?.call;
  if (call !== undefined) call.isolation = tier;
}
