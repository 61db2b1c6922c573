/** `grep`: ripgrep over the sandbox, read-only. */
import { z } from "zod";
import { lazyModule } from "../util/lazy.ts";
import { defineBuiltInTool } from "../tool/define-tool.ts";

const parts = lazyModule(async () => ({
  ...(await import("../sandbox/search/search-files.ts")),
  ...(await import("./settings.ts")),
}));

export async function grepTool(pattern: string, path?: string): Promise<string> {
  const { currentSettings, hiddenFiles, reportIsolation, searchFiles } = parts.value ?? (await parts.get());
  const settings = currentSettings();
  const { rootDir, maxOutputBytes, timeoutMs, isolation, signal } = settings;
  const { output, tier } = await searchFiles({
    rootDir,
    pattern,
    path,
    maxOutputBytes,
    timeoutMs,
    isolation,
    signal,
    hidden: hiddenFiles(settings),
  });
  reportIsolation(tier);
  return output;
}

export const grep = defineBuiltInTool({
  name: "grep",
  usesFiles: true,
  description: "Search files for a regular expression. Returns matching lines as file:line:text.",
  schema: () =>
    z.object({
      pattern: z.string().describe("Regular expression, in ripgrep's syntax"),
      path: z.string().optional().describe("Folder or file to search; the whole root by default"),
    }),
  execute: ({ pattern, path }) => grepTool(pattern, path),
});
