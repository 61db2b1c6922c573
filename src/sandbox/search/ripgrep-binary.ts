/**
 * Locates ripgrep's program in the npm package for this platform, so that nothing has to be installed. It is loaded
 * on the first search, or before the first tool that may change files. It is never taken from PATH or from the
 * sandbox root.
 */
import { ToolwrightError } from "../../errors.ts";
import { lazyModule } from "../../util/lazy.ts";

const ripgrep = lazyModule(() => import("@vscode/ripgrep"));

export async function findRipgrep(): Promise<string> {
  try {
    return (await ripgrep.get()).rgPath;
  } catch (cause) {
    throw new ToolwrightError(
      "TOOL_GREP_FAILED",
      "ripgrep is missing: the package @vscode/ripgrep has no program for this platform, or it is not installed.",
      { hint: "Install @vscode/ripgrep with its optional dependencies.", effect: "none", cause },
    );
  }
}
