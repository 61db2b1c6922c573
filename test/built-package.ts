/** The compiled package. To compile it takes ten seconds of processor time, and `npm test` has just done it. */
import { spawnSync } from "node:child_process";
import { cpSync, globSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const PROJECT = resolve(import.meta.dirname, "..");

/** Copies `dist` to a folder if it is younger than its sources, and compiles them into the folder if it is not. */
export function buildPackageInto(folder: string): void {
  if (isBuilt()) {
    cpSync(join(PROJECT, "dist"), folder, { recursive: true });
    return;
  }
  const compiler = join(PROJECT, "node_modules/typescript/bin/tsc");
  const args = [compiler, "-p", "tsconfig.build.json", "--outDir", folder];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: PROJECT, encoding: "utf8" });
  if (status !== 0) throw new Error(`The package does not compile: ${stdout}`);
}

function isBuilt(): boolean {
  const timeOf = (file: string): number =>
    statSync(join(PROJECT, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = globSync("src/**/*.ts", { cwd: PROJECT }).filter((file) => !file.endsWith(".test.ts"));
  const outputs = sources.flatMap((file) => {
    const output = file.replace(/^src/, "dist").replace(/\.ts$/, "");
    return [`${output}.js`, `${output}.d.ts`];
  });
  const compiled = globSync("dist/**/*.{js,d.ts}", { cwd: PROJECT }).filter(
    (file) => !file.startsWith("dist/ui/"),
  );
  const newest = Math.max(...[...sources, "tsconfig.build.json", "package.json"].map(timeOf));
  // A file that has no source any more belongs to an older build.
  return compiled.length === outputs.length && outputs.every((file) => timeOf(file) >= newest);
}
