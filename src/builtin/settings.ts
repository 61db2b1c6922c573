/** The limits and places that the lower-level functions work within: those of the context around them, or the defaults. */
import { DEFAULT_SETTINGS, getToolContext, type ToolSettings } from "../definition/context.ts";
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

/** With the files that SQLite keeps beside its own. */
export function hiddenFiles(settings: ToolSettings): string[] {
  return settings.protectedPaths.flatMap((path) =>
    ["", "-wal", "-shm", "-journal"].map((suffix) => path + suffix),
  );
}

/** Stamps the row of the call that runs now with the isolation that its process had. */
export function reportIsolation(tier: string): void {
  const call = currentAmbient()?.attempt?.call;
  if (call !== undefined) call.isolation = tier;
}
