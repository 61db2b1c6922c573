/** Whether a restore leaves a path alone. The rule is the same as for the tools that write files. */
import { ToolwrightError } from "../errors.ts";
import { refuseProtected } from "../sandbox/files/protected-paths.ts";
import type { Repository } from "./find-repository.ts";

/** @param path From the top of the work tree, as the Latin-1 form of its bytes. */
export function isLeftAlone({ top }: Repository, path: string): boolean {
  const realPath = `${top}/${Buffer.from(path, "latin1").toString("utf8")}`;
  try {
    refuseProtected({ realRoot: top, realPath, directory: undefined, folders: [] });
    return false;
  } catch (error) {
    if (ToolwrightError.is(error) && error.code === "TOOL_PATH_PROTECTED") return true;
    throw error;
  }
}
