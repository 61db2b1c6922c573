/** The location of this package, and the file behind each of its import paths. */
import { readFileSync } from "node:fs";

const ROOT = new URL("../../", import.meta.url);

interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

export function readManifest(): Manifest {
  return JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as Manifest;
}

/** Packages that are missing in a workflow's folder are resolved from here. */
export const OWN_FILE: string = import.meta.url;

/** `undefined` for paths that the package does not export; Node then reports the error. */
export function ownExport(manifest: Manifest, specifier: string): string | undefined {
  const target = manifest.exports[`.${specifier.slice("toolwright".length)}`];
  if (target === undefined) return undefined;
  const file = typeof target === "string" ? target : target.default;
  // If the package runs from source, resolve to source, so that the process has one copy of it.
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? file.replace("./dist/", "./src/").replace(/\.js$/, ".ts") : file, ROOT).href;
}

export function isOwnSource(url: string): boolean {
  return url.startsWith(new URL("src/", ROOT).href);
}
