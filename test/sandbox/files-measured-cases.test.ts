/** Measured cases of reading, writing and editing; our own cases are in `files-cases.test.ts`. */
import { describe, expect, it } from "vitest";
import cases from "./cases.json" with { type: "json" };
import { runFileCase, type FileCase } from "./files-case-runner.ts";

const ours = (cases as unknown[]).filter(isFileCase);

function isFileCase(value: unknown): value is FileCase {
  if (typeof value !== "object" || value === null || !("tool" in value)) return false;
  return value.tool === "read" || value.tool === "write" || value.tool === "edit";
}

describe("the measured cases", () => {
  it.for(ours)("$id", async (testCase, { skip }) => {
    const mounts = testCase.setup?.some((command) => command.includes("mount ")) === true;
    if (mounts && process.getuid?.() !== 0) skip("Its setup mounts a file, which only root can do.");
    expect(await runFileCase(testCase)).toEqual([]);
  });
});
