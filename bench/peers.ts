/** Packages by other vendors, installed in a separate folder when a comparison first needs them. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "peers");
const NATIVE_MODULE_MS = 120_000;

/** `undefined` if it cannot be installed, for example offline. */
export function loadPeer(name: string): unknown {
  installPeers();
  try {
    return createRequire(join(FOLDER, "package.json"))(name) as unknown;
  } catch {
    // The other rows are still useful without it.
    return undefined;
  }
}

/** @returns which packages are still missing */
export function installPeers(onStart: () => void = () => undefined): string[] {
  if (missingPeers().length === 0) return [];
  onStart();
  // No script of a package runs, and no lock file is written. What a peer needs is listed with exact versions, so npm
  // does not have to search for versions that fit each other, which takes minutes.
  const flags = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--legacy-peer-deps"];
  npm(["install", ...flags]);
  // The native module of LangGraph's saver is the exception. Without it, the saver uses SQLite of Node.
  npm(["rebuild", "better-sqlite3"], NATIVE_MODULE_MS);
  return missingPeers();
}

/** Not installed, or not the version that is compared. */
function missingPeers(): string[] {
  const { dependencies } = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return Object.entries(dependencies)
    .filter(([name, wanted]) => !wanted.endsWith(installedVersion(name) ?? "none"))
    .map(([name]) => name);
}

function installedVersion(name: string): string | undefined {
  const manifest = join(FOLDER, "node_modules", name, "package.json");
  if (!existsSync(manifest)) return undefined;
  return (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version?: string }).version;
}

function npm(args: readonly string[], timeout?: number): void {
  spawnSync("npm", args, { cwd: FOLDER, stdio: "ignore", ...(timeout === undefined ? {} : { timeout }) });
}
