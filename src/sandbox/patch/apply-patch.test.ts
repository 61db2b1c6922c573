import { createTwoFilesPatch } from "diff";
import { describe, expect, it } from "vitest";
import { startCpuClock } from "../../../test/cpu-time.ts";
import { ToolwrightError } from "../../errors.ts";
import { applyPatch } from "./apply-patch.ts";
import { isPatchApplied, patchState } from "./is-patch-applied.ts";
import { parseUnifiedDiff } from "./parse-unified-diff.ts";

const apply = (text: string, patch: string): string => applyPatch(text, parseUnifiedDiff(patch), '"f"');

/** A small seeded generator, so that a failure can be reproduced. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

function randomEdit(random: (below: number) => number): { before: string; after: string } {
  const odd = ["", "-", "+", " ", "--- x", "+++ y", "@@ z", "\\ q", "```", "\u2028"];
  const line = (): string => odd[random(60)] ?? String.fromCharCode(97 + random(26)) + random(4);
  const old = Array.from({ length: random(30) }, line);
  const lines = [...old];
  for (let edits = random(4); edits >= 0; edits -= 1) {
    lines.splice(random(lines.length + 1), random(2), ...Array.from({ length: random(3) }, line));
  }
  const join = (all: readonly string[]): string =>
    all.join("\n") + (all.length > 0 && random(4) > 0 ? "\n" : "");
  return { before: join(old), after: join(lines) };
}

describe("applyPatch", () => {
  it("gives the new text for any patch of a differ, with either line ending on either side", () => {
    const random = randomNumbers(42);
    for (let round = 0; round < 3000; round += 1) {
      const { before, after } = randomEdit(random);
      const patch = createTwoFilesPatch("a/f", "b/f", before, after, undefined, undefined, {
        context: random(5),
      });
      const ending = before.includes("\n") && random(3) === 0 ? "\r\n" : "\n";
      const patchEnding = random(3) === 0 ? "\r\n" : "\n";
      if (before === after) continue;
      const result = apply(before.replaceAll("\n", ending), patch.replaceAll("\n", patchEnding));
      expect(result, JSON.stringify({ before, after, patch })).toBe(after.replaceAll("\n", ending));
      expect(patchState(before, patch)).not.toBe("applied");
      expect(patchState(after, patch)).not.toBe("pending");
    }
  });

  it("answers a damaged patch with our error and nothing else", () => {
    const random = randomNumbers(7);
    const noise = " +-@\\\n\r0,\t`";
    for (let round = 0; round < 3000; round += 1) {
      const { before, after } = randomEdit(random);
      const patch = createTwoFilesPatch("f", "f", before, after).split("");
      for (let damage = random(4); damage >= 0; damage -= 1) {
        patch.splice(random(patch.length), random(2), noise[random(noise.length)] ?? "");
      }
      try {
        apply(before, patch.join(""));
      } catch (error) {
        expect(ToolwrightError.is(error) && error.code, String(error)).toBe("TOOL_PATCH_FAILED");
      }
    }
  });

  it("finds a patch in a text that was moved", () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    const text = `${lines.join("\n")}\n`;
    const changed = text.replace("line 20\n", "").replace("line 70\n", "line 70\nnew\n");
    const patch = createTwoFilesPatch("f", "f", text, changed);
    const before = "x\n".repeat(33);
    expect(apply(before + text, patch)).toBe(before + changed);
  });

  it("says where a hunk that has several places would fit", () => {
    expect(() => apply("x\ny\nz\nx\ny\n", "@@ -9,2 +9,2 @@\n x\n-y\n+Y\n")).toThrow(
      "including lines 1 and 4",
    );
  });

  it("takes a place that is unique after the previous hunk", () => {
    const patch = "@@ -3 +3 @@\n-z\n+Z\n@@ -40,2 +40,2 @@\n x\n-y\n+Y\n";
    expect(apply("x\ny\nz\nx\ny\n", patch)).toBe("x\ny\nZ\nx\nY\n");
  });

  it("does not put lines without context behind a hunk that had moved", () => {
    expect(() => apply("0\na\nb\nc\n", "@@ -1 +1 @@\n-a\n+A\n@@ -2,0 +3 @@\n+x\n")).toThrow("hunk 2");
  });

  it("shows the place that has most of the lines when the stated line is far off", () => {
    const text = `${"filler\n".repeat(500)}one\ntwo\nthree\nfour\n`;
    let hint = "";
    try {
      apply(text, "@@ -2,4 +2,4 @@\n one\n two\n-drei\n+3\n four\n");
    } catch (error) {
      if (ToolwrightError.is(error)) hint = error.hint;
    }
    expect(hint).toContain('503: "three"');
    expect(hint).toContain('The patch has "drei" for line 503.');
  });
});

describe("the time of a patch", () => {
  const hunk = (start: number, lines: readonly string[]): string =>
    `@@ -${start},${lines.length} +${start},${lines.length + 1} @@\n+new\n${lines.map((line) => ` ${line}\n`).join("")}`;
  const timeOf = (task: () => unknown): number => {
    const cpuMs = startCpuClock();
    try {
      task();
    } catch (error) {
      if (!ToolwrightError.is(error)) throw error;
    }
    return cpuMs();
  };

  // Each took seconds with the applier of jsdiff, or is quadratic if implemented carelessly.
  it.each<[string, () => unknown]>([
    [
      "8,000 equal lines that are not there",
      () => apply("x\n".repeat(60_000), hunk(9, [...Array<string>(8000).fill("x"), "y"])),
    ],
    [
      "8,000 equal lines in many places",
      () => apply("x\n".repeat(60_000), hunk(59_999, Array<string>(8000).fill("x"))),
    ],
    [
      "2,000 hunks of all lengths, none where stated",
      () =>
        apply(
          "x\n".repeat(100_000),
          Array.from({ length: 2000 }, (_, index) =>
            hunk(1 + index * 40, [...Array<string>(1 + (index % 30)).fill("x"), "y"]),
          ).join(""),
        ),
    ],
    ["a file of nothing but line endings", () => apply("\n".repeat(3_000_000), hunk(5, [""]))],
    ["one line of ten megabytes", () => apply(`${"x".repeat(10_000_000)}\nb\n`, "@@ -9 +9 @@\n-b\n+c\n")],
    [
      "a header of blanks",
      () => apply("a\n", `--- ${" \t".repeat(500_000)}\n+++ ${" ".repeat(500_000)}\n@@ -1 +1 @@\n-a\n+b\n`),
    ],
    ["a million blank lines", () => apply("a\n", `${"\n".repeat(1_000_000)}@@ -1 +1 @@\n-a\n+b\n`)],
  ])("is short for %s", (_, task) => {
    expect(timeOf(task)).toBeLessThan(3000);
  });
});

describe("isPatchApplied", () => {
  const patch = "@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n";

  it("distinguishes before from after", () => {
    expect(isPatchApplied("a\nb\nc\nd\n", patch)).toBe(false);
    expect(isPatchApplied("a\nb\nC\nd\n", patch)).toBe(true);
    expect(patchState("a\nb\nc\nd\n", patch)).toBe("pending");
  });

  it("finds it where an unstated place was the only one", () => {
    expect(isPatchApplied("0\n0\na\nb\nC\nd\n", patch)).toBe(true);
  });

  it("does not say yes where it cannot know", () => {
    expect(patchState("something else\n", patch)).toBe("unclear");
    expect(patchState("x\nx\nx\n", "@@ -1,2 +1,3 @@\n x\n+x\n x\n")).toBe("unclear");
    expect(isPatchApplied("x\nx\nx\n", "@@ -1,2 +1,3 @@\n x\n+x\n x\n")).toBe(false);
  });

  it("knows marks of the end of the file and CRLF", () => {
    const marked = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
    expect([isPatchApplied("a", marked), isPatchApplied("a\n", marked)]).toEqual([false, true]);
    expect(isPatchApplied("a\r\nb\r\nC\r\nd\r\n", patch)).toBe(true);
  });
});
