import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ToolwrightError } from "../../errors.ts";
import { describeIsolation } from "../tiers/isolation.ts";
import { searchFiles, type SearchRequest } from "./search-files.ts";

let base: string;
let root: string;

beforeAll(async () => {
  const { tier, reason } = await describeIsolation();
  if (tier !== "bwrap")
    throw new Error(`These tests need bubblewrap: apt-get install bubblewrap. Here it is: ${reason ?? tier}`);
});
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "toolwright-search-"));
  root = join(base, "root");
  mkdirSync(join(root, "d"), { recursive: true });
  writeFileSync(join(root, "d", "b.txt"), "x needle\nneedle\n");
  writeFileSync(join(root, "a.txt"), "needle\n");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const search = (more: Partial<SearchRequest>) => {
  return searchFiles({
    rootDir: root,
    pattern: "needle",
    maxOutputBytes: 200_000,
    timeoutMs: 20_000,
    isolation: "require",
    ...more,
  });
};
const failure = (more: Partial<SearchRequest>) =>
  search(more).then(
    () => undefined,
    (error: ToolwrightError) => error,
  );

describe.each(["require", "off"] as const)("isolation %s", (isolation) => {
  test("matches are lines of file, number and text, sorted", async () => {
    const result = await search({ isolation });
    expect(result.output).toBe("a.txt:1:needle\nd/b.txt:1:x needle\nd/b.txt:2:needle\n");
    expect(result).toMatchObject({ truncated: false, tier: isolation === "off" ? "none" : "bwrap" });
  });

  test("a folder, a file and an absolute path name the same lines relative to the root", async () => {
    for (const path of ["d", "d/", "./d/b.txt", join(root, "d"), join(root, "d/b.txt")]) {
      expect((await search({ path, isolation })).output).toBe("d/b.txt:1:x needle\nd/b.txt:2:needle\n");
    }
  });

  test("no match is an empty string", async () =>
    expect((await search({ pattern: "zzz", isolation })).output).toBe(""));

  test("a malformed pattern fails with ripgrep's own words", async () => {
    const error = await failure({ pattern: "(", isolation });
    expect(error).toMatchObject({ code: "TOOL_GREP_FAILED", effect: "none" });
    expect(error?.message).toContain("regex parse error");
  });

  test("a pattern that looks like an option is a pattern", async () => {
    writeFileSync(join(root, "pre.sh"), `#!/bin/sh\ntouch ${base}/PWNED\n`);
    chmodSync(join(root, "pre.sh"), 0o755);
    for (const pattern of ["--pre=./pre.sh", "-f/etc/passwd", "--files", "-L", "--"]) {
      expect((await search({ pattern, path: "a.txt", isolation })).output).toBe("");
    }
    expect(existsSync(join(base, "PWNED"))).toBe(false);
  });

  test("the cap keeps whole lines, and the mark says that there are more", async () => {
    writeFileSync(join(root, "many"), "needle in a line\n".repeat(500_000));
    const { output, truncated } = await search({ maxOutputBytes: 1_000, isolation });
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(output)).toBeLessThan(1_150);
    expect(output.trimEnd().split("\n").at(-1)).toMatch(/^\[… cut at 1000 bytes/);
    expect(
      output
        .split("\n")
        .slice(0, -2)
        .every((line) => /^[\w/.]+:\d+:.*needle/.test(line)),
    ).toBe(true);
  });

  test("a line of megabytes is shown by its beginning", async () => {
    writeFileSync(join(root, "long"), `needle${"n".repeat(5_000_000)}\n`);
    const { output } = await search({ path: "long", isolation });
    expect(output.length).toBeLessThan(3_000);
    expect(output).toMatch(/^long:1:needlennn/);
  });

  test.each([[0], [10_485_761]])("an output limit of %s is refused", async (maxOutputBytes) => {
    expect(await failure({ maxOutputBytes, isolation })).toMatchObject({ code: "TOOL_INPUT_INVALID" });
  });

  test("an abort ends it", async () => {
    expect(await failure({ signal: AbortSignal.abort(), isolation })).toMatchObject({ code: "TOOL_ABORTED" });
  });
});

test("hidden files are not found", async () => {
  for (const isolation of ["require", "off"] as const) {
    const hidden = [join(root, "d", "b.txt")];
    expect((await search({ hidden, isolation })).output).toBe("a.txt:1:needle\n");
    expect((await search({ hidden: [join(root, "d")], isolation })).output).toBe("a.txt:1:needle\n");
    expect(await failure({ hidden, path: "d/b.txt", isolation })).toMatchObject({
      code: "TOOL_PATH_PROTECTED",
    });
  }
});

test("ripgrep is not taken from PATH or from the root", async () => {
  const path = process.env["PATH"];
  writeFileSync(join(root, "rg"), `#!/bin/sh\necho EVIL\n`);
  chmodSync(join(root, "rg"), 0o755);
  process.env["PATH"] = `${root}:/usr/bin:/bin`;
  try {
    expect((await search({ path: "a.txt" })).output).toBe("a.txt:1:needle\n");
  } finally {
    process.env["PATH"] = path;
  }
});
