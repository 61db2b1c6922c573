/**
 * Decides which folders may be a sandbox root. It must never accept a folder that contains a home, with its keys and
 * shell profiles, or a system folder.
 */
import { realpathSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { resolve } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import { refuseSystemRoot } from "../view/system-root.ts";

/** Returns the real path of a valid root, or throws `TOOL_OPTION_INVALID`. */
export function checkRoot(rootDir: string): string {
  try {
    const realPath = realpathSync.native(resolve(rootDir));
    if (!statSync(realPath).isDirectory()) throw unusableRoot(rootDir);
    refuseBroadRoot(realPath);
    return realPath;
  } catch (error) {
    throw ToolwrightError.is(error) ? error : unusableRoot(rootDir);
  }
}

/** The second half of the check, for callers that already have the real path. */
export function refuseBroadRoot(realPath: string): void {
  if (realPath === "/") throw rootRefused("is the whole file system");
  refuseSystemRoot(realPath);
  // `$HOME` may change at any time, so it is read again. The account's home is fixed for the process.
  const home = homedir();
  for (const candidate of [home, realPathOrSame(home), ...ACCOUNT_HOMES]) {
    if (candidate === realPath) throw rootRefused("is a home folder");
    if (candidate.startsWith(`${realPath}/`)) throw rootRefused("contains a home folder");
  }
}

export function unusableRoot(rootDir: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_OPTION_INVALID",
    `The sandbox root must be an existing folder; rootDir is ${JSON.stringify(rootDir)}.`,
    { effect: "none" },
  );
}

function rootRefused(why: string): ToolwrightError {
  return new ToolwrightError("TOOL_OPTION_INVALID", `The sandbox root is refused, because it ${why}.`, {
    hint: "Set rootDir to the folder of one project.",
    effect: "none",
  });
}

const ACCOUNT_HOMES = accountHomes();

function accountHomes(): readonly string[] {
  try {
    const home = userInfo().homedir;
    return [home, realPathOrSame(home)];
  } catch {
    // A user id without an account, as in many containers, has no home to protect.
    return [];
  }
}

function realPathOrSame(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // A home that does not exist contains nothing, but its spelling is still compared.
    return path;
  }
}
