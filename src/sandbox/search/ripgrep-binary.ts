/**
 * Where ripgrep's program lies: in the npm package for this platform, so that nothing has to be installed. Loaded on the
 * first search and never before; never taken from PATH or from the sandbox root.
 */
import { ToolwrightError } from "../../errors.ts";

export async function findRipgrep(): Promise<string> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    return rgPath;
  } catch (cause) {
    throw new ToolwrightError(
      "TOOL_GREP_FAILED",
      "ripgrep is missing: the package @vscode/ripgrep has no program for this platform, or it is not installed.",
      { hint: "Install @vscode/ripgrep with its optional dependencies.", effect: "none", cause },
    );
  }
}
