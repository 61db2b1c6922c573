/** Other makers' packages, installed in a folder of their own when they are first compared with. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "peers");

/** `undefined` where it cannot be installed, for example offline. */
export function loadPeer(name: string): unknown {
  if (!existsSync(join(FOLDER, "node_modules", name))) {
    const options = { cwd: FOLDER, stdio: "ignore" } as const;
    spawnSync("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock"], options);
  }
  try {
    return createRequire(join(FOLDER, "package.json"))(name) as unknown;
  } catch {
    // Without it the other rows are still worth something.
    return undefined;
  }
}
