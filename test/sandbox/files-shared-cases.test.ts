/**
 * Runs the cases that are kept beside the repository, where they are. Our own, which never depend on them, are in
 * `files-cases.test.ts`.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runFileCase, type FileCase } from "./files-case-runner.ts";

const file = fileURLToPath(new URL("../../../shared/sandbox-cases.json", import.meta.url));
const parsed: unknown = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
const ours = Array.isArray(parsed) ? parsed.filter(isFileCase) : [];

function isFileCase(value: unknown): value is FileCase {
  if (typeof value !== "object" || value === null || !("tool" in value)) return false;
  return value.tool === "read" || value.tool === "write" || value.tool === "edit";
}

describe.skipIf(ours.length === 0)("the shared cases", () => {
  it.for(ours)("$id", async (testCase, { skip }) => {
    const mounts = testCase.setup?.some((command) => command.includes("mount ")) === true;
    if (mounts && process.getuid?.() !== 0) skip("Its setup mounts a file, which only root can do.");
    expect(await runFileCase(testCase)).toEqual([]);
  });
});
