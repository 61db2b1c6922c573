/** `write`: a file in the sandbox, atomically, with its parent folders. */
import { z } from "zod";
import { lazyModule, loadLazyModules } from "../util/lazy.ts";
import { defineBuiltInTool } from "../tool/define-tool.ts";

const parts = lazyModule(async () => ({
  ...(await import("../sandbox/files/write-text-file.ts")),
  ...(await import("../sandbox/protection/refuse-protected.ts")),
  ...(await import("./replaced-files.ts")),
  ...(await import("./settings.ts")),
}));

export async function writeFileTool(path: string, content: string): Promise<"ok"> {
  const { currentSettings, keepReplaced, protectPaths, writeTextFile } = parts.value ?? (await parts.get());
  await loadLazyModules();
  const { rootDir, maxOutputBytes, protectedPaths } = currentSettings();
  await writeTextFile({
    rootDir,
    path,
    content,
    maxBytes: maxOutputBytes,
    isProtected: protectPaths(protectedPaths),
    beforeReplace: keepReplaced(),
  });
  return "ok";
}

export const write = defineBuiltInTool({
  name: "write",
  usesFiles: true,
  description: "Write content to a file, creating parent folders as needed. Replaces what is there.",
  schema: () =>
    z.object({
      path: z.string().describe("Destination path, relative to the root or absolute within it"),
      content: z.string().describe("The whole content of the file"),
    }),
  sideEffect: true,
  idempotent: false,
  replay: "run",
  // The file is replaced atomically, so an interrupted write can be repeated.
  onUnknown: "run",
  digestInput: "content",
  execute: ({ path, content }) => writeFileTool(path, content),
  revert: async ({ path }, ctx) => (await parts.get()).restoreReplaced(path, ctx),
});
