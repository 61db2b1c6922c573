import { describe, expect, it } from "vitest";
import { parseUnifiedDiff, reversePatch } from "./parse-unified-diff.ts";

const failed = (message: string) =>
  expect.objectContaining({ code: "TOOL_PATCH_FAILED", message: expect.stringContaining(message) });

describe("parseUnifiedDiff", () => {
  it("reports lines, positions and the marks of the end", () => {
    const { hunks } = parseUnifiedDiff("@@ -3,2 +3,2 @@ f()\n a\n-b\n\\ No newline at end of file\n+c\n");
    expect(hunks).toEqual([
      {
        stated: 2,
        lines: [
          { mark: " ", text: "a" },
          { mark: "-", text: "b" },
          { mark: "+", text: "c" },
        ],
        oldLines: ["a", "b"],
        oldLacksNewline: true,
        newLacksNewline: false,
      },
    ]);
  });

  it("puts lines without old ones behind the stated line", () => {
    expect(parseUnifiedDiff("@@ -4,0 +5 @@\n+x\n").hunks[0]?.stated).toBe(4);
  });

  it("tells the model the right counts", () => {
    expect(() => parseUnifiedDiff("@@ -1,9 +1,9 @@\n a\n-b\n+c\n+d\n\n")).toThrow(
      failed("are wrong: 2 old and 3 new lines follow"),
    );
  });

  it("says which line does not belong to a patch", () => {
    expect(() => parseUnifiedDiff("--- a\n+++ a\n@@ -1,2 +1,2 @@\n a\n-b\nc\n")).toThrow(
      failed('line 6 ("c")'),
    );
    expect(() => parseUnifiedDiff("*** Begin Patch\n")).toThrow(failed("another patch format"));
    expect(() => parseUnifiedDiff("@@ -1 +1 @@\n-a\n+b\n--- a/x\n+++ b/x\n")).toThrow(
      failed("a second file"),
    );
  });

  it.each([
    ["--- a/src/f.ts\n+++ b/src/f.ts\n", true],
    ["--- src/f.ts\t2024-01-01 00:00:00\n+++ src/f.ts\t2024-01-02\n", true],
    ["--- i/src/f.ts\n+++ w/src/f.ts\n", true],
    ["--- ./src/f.ts\n+++ ./src/f.ts\n", true],
    ['--- "a/src/f.ts"\n+++ "b/src/f.ts"\n', true],
    ["--- f.ts\n+++ f.ts\n", true],
    ["--- /home/p/src/f.ts\n+++ /home/p/src/f.ts\n", true],
    ["diff --git src/f.ts src/f.ts\n--- src/f.ts\n+++ src/f.ts\n", true],
    ["--- a/src/g.ts\n+++ b/src/f.ts\n", false],
    ["--- a/src/f.ts.orig\n+++ b/src/f.ts\n", false],
    ["--- a/lib/f.ts\n+++ b/lib/f.ts\n", false],
    ["--- /etc/f.ts\n+++ /etc/f.ts\n", false],
    ["--- a/../src/f.ts\n+++ b/../src/f.ts\n", false],
    ["diff --git a/src/f.ts b/src/g.ts\n", false],
  ])("compares the header %j with the file", (header, fits) => {
    const parse = (): unknown =>
      parseUnifiedDiff(`${header}@@ -1 +1 @@\n-a\n+b\n`, ["src/f.ts", "src/f.ts", "/home/p/src/f.ts"]);
    if (fits) expect(parse).not.toThrow();
    else expect(parse).toThrow(failed("its header names"));
  });
});

describe("reversePatch", () => {
  it("counts the lines of the new text itself, even if the header is wrong", () => {
    const patch = parseUnifiedDiff("@@ -1 +1,3 @@\n-a\n+b\n+c\n+d\n@@ -5 +99 @@\n-e\n+f\n");
    expect(reversePatch(patch).hunks.map(({ stated }) => stated)).toEqual([0, 6]);
  });
});
