import { describe, expect, it } from "vitest";
import { parsePath } from "./parse-path.ts";

const ROOT = { given: "/link", real: "/real/root" };
const partsOf = (path: string): string[] => parsePath(path, ROOT).parts;

describe("parsePath", () => {
  it("collapses the spelling", () => {
    expect(partsOf("a//b/./c/../d")).toEqual(["a", "b", "d"]);
  });

  it("takes absolute paths in both spellings of the root", () => {
    expect(partsOf("/link/a")).toEqual(["a"]);
    expect(partsOf("/real/root/a")).toEqual(["a"]);
  });

  it("marks a path that must be a folder by a trailing dot", () => {
    for (const path of ["a/", "a/.", "a/b/.."]) expect(partsOf(path)).toEqual(["a", "."]);
    for (const path of [".", "./", "/link", "a/.."]) expect(partsOf(path)).toEqual(["."]);
  });

  it.each(["..", "../x", "a/../../x", "/", "/link2/a", "/real/root-x", "/real", "/etc/passwd"])(
    "refuses %s, which leads out",
    (path) => {
      expect(() => partsOf(path)).toThrow(expect.objectContaining({ code: "TOOL_PATH_ESCAPE" }));
    },
  );

  it.each(["", "a\0", "\udc00", "n".repeat(256), `${"n".repeat(100)}/${"ü".repeat(128)}`, "a/".repeat(2100)])(
    "refuses a path that no file system takes (%#)",
    (path) => {
      expect(() => partsOf(path)).toThrow(expect.objectContaining({ code: "TOOL_PATH_INVALID" }));
    },
  );

  it("takes the longest name there can be", () => {
    expect(partsOf("n".repeat(255))).toHaveLength(1);
    expect(partsOf(`${"ü".repeat(127)}n`)).toHaveLength(1);
  });
});
