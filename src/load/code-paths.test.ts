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
    // A loader, and what it loads when it needs it.
    for (const [name, dependencies] of Object.entries({
      loader: { compiler: "*" },
      compiler: {},
      "@a/b": {},
      unused: {},
    })) {
      const folder = join(root, "node_modules", name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "package.json"), JSON.stringify({ name, main: "main.cjs", dependencies }));
      writeFileSync(join(folder, "main.cjs"), "");
    }
    const source = JSON.stringify(join(import.meta.dirname, "code-paths.ts"));
    const program = `const { codePathsIn } = await import(${source}); console.log(JSON.stringify(codePathsIn(${JSON.stringify(root)})));`;
    const preload = ["--import", "./import.mjs", `--import=file://${root}/url.mjs`, "-r", "./require.cjs"];
    preload.push("--import", "loader", "-r", "./node_modules/@a/b/main.cjs");
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
    const packages = ["loader", "compiler", "@a/b"].map((name) => `node_modules/${name}`);
    expect(found).toEqual(expect.arrayContaining(packages));
    expect(found).not.toContain("other.mjs");
    expect(found).not.toContain("node_modules/unused");
  } finally {
    rmSync(root, { recursive: true });
  }
});
