/** Packages by other vendors, installed in a separate folder when a comparison first needs them. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "peers");

/** `undefined` if it cannot be installed, for example offline. */
export function loadPeer(name: string): unknown {
  if (!existsSync(join(FOLDER, "node_modules", name))) {
    const options = { cwd: FOLDER, stdio: "ignore" } as const;
    spawnSync("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock"], options);
  }
  try {
    return createRequire(join(FOLDER, "package.json"))(name) as unknown;
  } catch {
    // The other rows are still useful without it.
    return undefined;
  }
}
