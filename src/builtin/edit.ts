/** `edit`: a unified diff, applied strictly to one existing file. */
import { z } from "zod";
import { lazyModule, loadLazyModules } from "../util/lazy.ts";
import { defineBuiltInTool } from "../tool/define-tool.ts";
import { readFileTool } from "./read.ts";

const parts = lazyModule(async () => ({
  ...(await import("../sandbox/files/edit-text-file.ts")),
  ...(await import("../sandbox/protection/refuse-protected.ts")),
  ...(await import("../sandbox/patch/is-patch-applied.ts")),
  ...(await import("./replaced-files.ts")),
  ...(await import("./settings.ts")),
}));

export async function editFileTool(path: string, patch: string): Promise<"ok"> {
  const { currentSettings, editTextFile, keepReplaced, protectPaths } = parts.value ?? (await parts.get());
  await loadLazyModules();
  const { rootDir, maxOutputBytes, protectedPaths } = currentSettings();
  await editTextFile({
    rootDir,
    path,
    patch,
    maxBytes: maxOutputBytes,
    isProtected: protectPaths(protectedPaths),
    beforeReplace: keepReplaced(),
  });
  return "ok";
}

export const edit = defineBuiltInTool({
  name: "edit",
  usesFiles: true,
  description: "Apply a unified diff to an existing file. The context lines must match the file exactly.",
  schema: () =>
    z.object({
      path: z.string().describe("File to patch; it must exist"),
      patch: z.string().describe("A unified diff of this one file"),
    }),
  sideEffect: true,
  idempotent: false,
  replay: "run",
  digestInput: "patch",
  execute: ({ path, patch }) => editFileTool(path, patch),
  revert: async ({ path }, ctx) => (await parts.get()).restoreReplaced(path, ctx),
  // After an interruption, the file shows whether the patch was applied. No part of it can be applied later.
  settleMs: 0,
  onUnknown: "tell",
  async reconcile({ path, patch }) {
    const { patchState } = parts.value ?? (await parts.get());
    const state = patchState(await readFileTool(path), patch);
    if (state === "unclear") return undefined;
    return state === "applied" ? { happened: true, output: "ok" as const } : { happened: false };
  },
});
