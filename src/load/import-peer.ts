/**
 * The only way to load an optional peer. Peers are loaded late, when a tool may already have run: a package that a tool
 * planted must not run in this process. Files that import a peer statically import a guard from
 * `peers/` first.
 */
import { PlantedPackage, refusePlanted } from "./code-paths.ts";

/**
 * @example
 * const { default: pg } = await importPeer("pg", () => import("pg"));
 */
export async function importPeer<T>(name: string, load: () => Promise<T>): Promise<T> {
  refusePlanted(name);
  return load();
}

/** Tells the user how to fix a peer that `importPeer` could not load. */
export function peerHint(name: string, cause: unknown): string {
  return cause instanceof PlantedPackage
    ? `Run: npm install ${name}, then restart the process.`
    : `Run: npm install ${name}`;
}
