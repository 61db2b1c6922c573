/**
 * Folders of the operating system that cannot be a sandbox root: bound writable, they would undo what the sandbox masks
 * in them. Names only; whether a root exists and holds no home is checked elsewhere.
 */
import { ToolwrightError } from "../../errors.ts";
import { isInside } from "./is-inside.ts";

export function refuseSystemRoot(realRoot: string): void {
  const isSystem =
    WHOLE.some((folder) => isInside(folder, realRoot)) || NEVER.some((folder) => isInside(realRoot, folder));
  if (!isSystem) return;
  throw new ToolwrightError(
    "TOOL_OPTION_INVALID",
    "The sandbox root is refused, because it is a folder of the system.",
    {
      hint: "Set rootDir to the folder of one project.",
      effect: "none",
    },
  );
}

/** Not themselves and nothing above them; folders in them may be roots. */
const WHOLE = [
  "/bin",
  "/boot",
  "/dev",
  "/etc",
  "/lib",
  "/lib64",
  "/opt",
  "/run",
  "/sbin",
  "/usr",
  "/var",
  "/nix",
];
/** Nothing in them either. */
const NEVER = ["/proc", "/sys"];
