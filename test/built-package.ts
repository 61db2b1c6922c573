/**
 * The package as it is installed. Tests start its commands, since they start in half the time that they take from source.
 * `npm test` has just built it; if sources have changed since then, it is built again.
 */
import { spawnSync } from "node:child_process";
import { cpSync, globSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const PROJECT = resolve(import.meta.dirname, "..");

/** Copies `dist` to a folder, with its types. */
export function buildPackageInto(folder: string): void {
  ensurePackage();
  cpSync(join(PROJECT, "dist"), folder, { recursive: true });
}

/** Builds the code without its types, which takes a second. */
export function ensureCode(): void {
  const newest = Math.max(...[...sources(), "package.json", "scripts/build-code.ts"].map(timeOf));
  if (timeOf("dist/index.js") < newest) build("node", ["scripts/build-code.ts"]);
  if (timeOf("dist/ui/app.js") === 0) build("node", ["scripts/build-ui.ts"]);
}

function ensurePackage(): void {
  ensureCode();
  const outputs = sources().map((file) => file.replace(/^src/, "dist").replace(/\.ts$/, ".d.ts"));
  const newest = Math.max(...[...sources(), "tsconfig.build.json", "package.json"].map(timeOf));
  // A file that no longer has a source belongs to an older build.
  const isCurrent = globSync("dist/**/*.d.ts", { cwd: PROJECT }).length === outputs.length;
  if (!isCurrent || outputs.some((file) => timeOf(file) < newest)) build("npm", ["run", "build"]);
}

function build(command: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: PROJECT, encoding: "utf8" });
  if (status !== 0) throw new Error(`The package cannot be built: ${stdout}${stderr}`);
}

function sources(): string[] {
  return globSync("src/**/*.ts", { cwd: PROJECT }).filter((file) => !file.endsWith(".test.ts"));
}

function timeOf(file: string): number {
  return statSync(join(PROJECT, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
