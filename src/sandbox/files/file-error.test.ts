import { describe, expect, it } from "vitest";
import { fileError, showPath, toFileError } from "./file-error.ts";

const thrown = (code: string): Error =>
  Object.assign(new Error(`${code}: open '/proc/self/fd/21/f'`), { code, path: "/proc/self/fd/21/f" });

describe("toFileError", () => {
  it.each([
    ["ENOENT", "TOOL_FILE_NOT_FOUND"],
    ["ENOTDIR", "TOOL_NOT_A_DIRECTORY"],
    ["EISDIR", "TOOL_NOT_A_FILE"],
    ["ENXIO", "TOOL_NOT_A_FILE"],
    ["EACCES", "TOOL_PERMISSION_DENIED"],
    ["EPERM", "TOOL_PERMISSION_DENIED"],
    ["EROFS", "TOOL_PERMISSION_DENIED"],
    ["ENOSPC", "TOOL_DISK_FULL"],
    ["EDQUOT", "TOOL_DISK_FULL"],
    ["ENAMETOOLONG", "TOOL_PATH_INVALID"],
    ["ELOOP", "TOOL_PATH_ESCAPE"],
    ["EMFILE", "TOOL_EXECUTION_FAILED"],
    ["EIO", "TOOL_EXECUTION_FAILED"],
  ])("turns %s into %s without the descriptor's path", (errno, code) => {
    const error = toFileError(thrown(errno), '"f"');
    expect(error).toMatchObject({ code, effect: "none", details: { errno } });
    expect(error).not.toHaveProperty("cause");
    expect(String(error)).toContain('"f"');
    expect(String(error)).not.toContain("/proc");
  });

  it("passes on our own errors, and errors that did not come from a system call", () => {
    const ours = fileError("TOOL_NOT_TEXT", "x");
    const bug = new TypeError("x");
    expect(toFileError(ours, "")).toBe(ours);
    expect(toFileError(bug, "")).toBe(bug);
  });
});

describe("showPath", () => {
  it("escapes line breaks, and truncates long texts", () => {
    expect(showPath("a\nb\u001b[31m")).toBe('"a\\nb\\u001b[31m"');
    expect(showPath("x".repeat(5000)).length).toBeLessThan(210);
  });
});
