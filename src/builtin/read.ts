/** `read`: a UTF-8 file from the sandbox, whole or in parts. */
import { z } from "zod";
import { anInteger } from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import { lazyModule } from "../util/lazy.ts";
import { defineBuiltInTool } from "../tool/define-tool.ts";

const parts = lazyModule(async () => ({
  ...(await import("../sandbox/files/read-text-file.ts")),
  ...(await import("../sandbox/protection/refuse-protected.ts")),
  ...(await import("./settings.ts")),
}));

/** The lines to read, from 1. Without them the whole file, which must fit the output limit. */
export interface ReadPart {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

export const READ_PART: OptionTable = optionTable<ReadPart>(
  "readFileTool",
  { offset: anInteger(1), limit: anInteger(1) },
  { example: "{ offset: 1, limit: 100 }" },
);

export async function readFileTool(path: string, part: ReadPart = {}): Promise<string> {
  checkOptions(READ_PART, part);
  const { currentSettings, protectPaths, readTextFile } = parts.value ?? (await parts.get());
  const { rootDir, maxOutputBytes, protectedPaths, signal } = currentSettings();
  const isProtected = protectedPaths.length === 0 ? undefined : protectPaths(protectedPaths);
  return readTextFile({ rootDir, path, maxBytes: maxOutputBytes, ...part, signal, isProtected });
}

export const read = defineBuiltInTool({
  name: "read",
  usesFiles: true,
  description: "Read a UTF-8 file. For a file that is too large, give offset and limit to read it in parts.",
  schema: () =>
    z.object({
      path: z.string().describe("File path, relative to the root or absolute within it"),
      offset: z.int().min(1).optional().describe("The first line to read, from 1"),
      limit: z.int().min(1).optional().describe("How many lines to read at most"),
    }),
  execute: ({ path, offset, limit }) => readFileTool(path, { offset, limit }),
});
