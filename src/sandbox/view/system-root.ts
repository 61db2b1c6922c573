/**
 * System folders that cannot be a sandbox root. Bound writable, they would undo the sandbox's masks in them, and
 * the file tools would read and write the system. Compares names only: `check-root.ts` checks that a root exists and
 * holds no home.
 */
import { realpathSync } from "node:fs";
import { ToolwrightError } from "../../errors.ts";
import { isInside } from "../is-inside.ts";

// Every call checks the root, and most use the same one.
let accepted: string | undefined;

export function refuseSystemRoot(realRoot: string): void {
  if (realRoot === accepted) return;
  const isSystem =
    WHOLE.some((folder) => isInside(folder, realRoot)) || NEVER.some((folder) => isInside(realRoot, folder));
  if (!isSystem) {
    accepted = realRoot;
    return;
  }
  throw new ToolwrightError(
    "TOOL_OPTION_INVALID",
    "The sandbox root is refused, because it is a folder of the system.",
    {
      hint: "Set rootDir to the folder of one project.",
      effect: "none",
    },
  );
}

/** Links at the top level, such as `/bin`, count as their targets. */
function withReal(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    try {
      return [folder, realpathSync(folder)];
    } catch {
      return [folder]; // Does not exist on this system.
    }
  });
}

/** Neither these nor any folder above them. Folders inside them may be roots. */
const WHOLE = withReal([
  "/dev",
  "/etc",
  "/nix",
  "/opt",
  "/run",
  "/usr",
  "/usr/local",
  "/var",
  "/var/lib",
  "/Applications",
  "/Library",
  "/Users",
  "/Volumes",
  "/private",
  "/private/var",
]);
/** Nothing inside these either: programs, libraries, the kernel's own files. */
const NEVER = withReal([
  "/bin",
  "/boot",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/proc",
  "/sbin",
  "/sys",
  "/usr/bin",
  "/usr/include",
  "/usr/lib",
  "/usr/lib64",
  "/usr/libexec",
  "/usr/local/bin",
  "/usr/local/sbin",
  "/usr/sbin",
  "/usr/share",
  "/System",
]);
