import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

test("files that Node was started with, and its cache of compiled code, are code of the process", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "code-paths-")));
  try {
    const files = ["import.mjs", "url.mjs", "require.cjs", "joined.cjs"];
    for (const name of [...files, "other.mjs"]) writeFileSync(join(root, name), "");
    mkdirSync(join(root, "cache"));
    const source = JSON.stringify(join(import.meta.dirname, "code-paths.ts"));
    const program = `const { codePathsIn } = await import(${source}); console.log(JSON.stringify(codePathsIn(${JSON.stringify(root)})));`;
    const preload = ["--import", "./import.mjs", `--import=file://${root}/url.mjs`, "-r", "./require.cjs"];
    const argv = [
      ...preload,
      "--experimental-strip-types",
      "--no-warnings",
      "--input-type=module",
      "-e",
      program,
    ];
    const env = {
      ...process.env,
      NODE_OPTIONS: "--require=./joined.cjs",
      NODE_COMPILE_CACHE: join(root, "cache"),
    };
    const output = execFileSync(process.execPath, argv, { cwd: root, env, encoding: "utf8" });
    const found = (JSON.parse(output) as string[]).map((path) => path.slice(root.length + 1));
    expect(found).toEqual(expect.arrayContaining([...files, "cache"]));
    expect(found).not.toContain("other.mjs");
  } finally {
    rmSync(root, { recursive: true });
  }
});
