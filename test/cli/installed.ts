/**
 * The package as users install it: built, packed and unpacked into a folder, next to the packages that its templates use.
 * Packing takes most of the time, so that all tests of a file share one installation.
 */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { buildPackageInto } from "../built-package.ts";

export const PROJECT = resolve(import.meta.dirname, "../..");
const MODULES = join(PROJECT, "node_modules");

/** Dependencies of the package and of the templates. */
const LINKED = [
  "@ai-sdk/react",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/server",
  "@types/node",
  "@types/react",
  "@types/react-dom",
  "@vscode/ripgrep",
  "ai",
  "commander",
  "diff",
  "esbuild",
  "react",
  "react-dom",
  "typescript",
  "undici-types",
  "zod",
];

export interface Installed {
  readonly folder: string;
  /** Runs a line in a shell, with npm, npx and Node as users install them. */
  paste(cwd: string, line: string): { readonly code: number | null; readonly output: string };
  /** Runs a line that serves until it is stopped. Resolves with the address that it prints. */
  serve(cwd: string, line: string): Promise<{ readonly url: string; readonly stop: () => void }>;
  /** Checks the types of a project; returns the compiler's output. */
  compile(compiler: "typescript" | "typescript-5", cwd: string): string;
}

export function installPackage(): Installed {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-installed-")));
  const stage = join(folder, "stage");
  const own = join(folder, "node_modules/toolwright");
  const creator = join(folder, "node_modules/create-toolwright");
  mkdirSync(own, { recursive: true });
  for (const name of ["package.json", "sql", "templates", "README.md", "LICENSE"])
    cpSync(join(PROJECT, name), join(stage, name), { recursive: true });
  buildPackageInto(join(stage, "dist"));
  for (const [source, target] of [
    [stage, own],
    [join(PROJECT, "packages/create-toolwright"), creator],
  ] as const) {
    mkdirSync(target, { recursive: true });
    const [packed] = JSON.parse(
      run(source, "npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder]),
    ) as [{ filename: string }];
    run(folder, "tar", ["-xzf", packed.filename, "-C", target, "--strip-components=1"]);
  }
  for (const name of LINKED) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(join(MODULES, name), join(folder, "node_modules", name));
  }
  const bin = join(folder, "node_modules/.bin");
  mkdirSync(bin);
  symlinkSync("../toolwright/dist/cli/main.js", join(bin, "toolwright"));
  symlinkSync("../create-toolwright/create-toolwright.js", join(bin, "create-toolwright"));
  run(folder, "chmod", ["+x", join(own, "dist/cli/main.js"), join(creator, "create-toolwright.js")]);
  const PATH = [bin, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
  const { NODE_TEST_CONTEXT: _outer, ...outer } = process.env;
  const env = { ...outer, PATH, NO_COLOR: "1", npm_config_offline: "true" };
  return {
    folder,
    paste: (cwd, line) => {
      const { status, stdout, stderr } = spawnSync("sh", ["-c", line], { cwd, encoding: "utf8", env });
      return { code: status, output: stdout + stderr };
    },
    serve: async (cwd, line) => {
      // A separate group: npm does not pass every signal on.
      const child = spawn("sh", ["-c", line], {
        cwd,
        env,
        detached: true,
        stdio: ["ignore", "pipe", "inherit"],
      });
      const stop = (): void => {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
      };
      for await (const printed of createInterface(child.stdout)) {
        const [url] = /http:\S+/.exec(printed) ?? [];
        if (url !== undefined) return { url, stop };
      }
      throw new Error(`${line} has ended`);
    },
    compile: (compiler, cwd) =>
      spawnSync(process.execPath, [join(MODULES, compiler, "bin/tsc")], { cwd, encoding: "utf8" }).stdout,
  };
}

function run(cwd: string, command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}
