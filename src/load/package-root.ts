/** Where this very package lies, and which of its files stands behind each of its import paths. */
import { readFileSync } from "node:fs";

const ROOT = new URL("../../", import.meta.url);

interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

export function readManifest(): Manifest {
  return JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as Manifest;
}

/** Packages that a workflow's folder lacks are looked for from here. */
export const OWN_FILE: string = import.meta.url;

/** `undefined` for paths that the package does not export; Node says so in its own words. */
export function ownExport(manifest: Manifest, specifier: string): string | undefined {
  const target = manifest.exports[`.${specifier.slice("toolwright".length)}`];
  if (target === undefined) return undefined;
  const file = typeof target === "string" ? target : target.default;
  // Run from its sources, the package hands out its sources, so that there is one copy of it in the process.
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? file.replace("./dist/", "./src/").replace(/\.js$/, ".ts") : file, ROOT).href;
}

export function isOwnSource(url: string): boolean {
  return url.startsWith(new URL("src/", ROOT).href);
}
