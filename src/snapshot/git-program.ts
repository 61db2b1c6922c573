/**
 * Chooses the git program and its environment: a program outside the root, and an environment built from scratch. It
 * must never pass on a GIT_* variable of this process, nor find a program that an agent could have written.
 */
import { homedir } from "node:os";
import { ToolwrightError } from "../errors.ts";
import { cleanPath } from "../sandbox/tiers/clean-environment.ts";
import { findTrustedExecutable } from "../sandbox/tiers/find-executable.ts";

export interface GitProgram {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

/** @param roots Both spellings of the root. */
export function findGit(roots: readonly string[], from: NodeJS.ProcessEnv = process.env): GitProgram {
  const path = cleanPath(from["PATH"], roots);
  const file = findTrustedExecutable("git", path, roots);
  if (file === undefined) {
    throw new ToolwrightError(
      "TOOL_COMMAND_NOT_FOUND",
      "Snapshots need git, and none was found on PATH outside the root.",
      { hint: "Install git 2.32 or newer outside the sandbox root.", effect: "none" },
    );
  }
  return { file, env: { ...FIXED_ENVIRONMENT, PATH: path, ...homeOf(from) } };
}

/** Placed before every git command: turns off programs and maintenance, and overrides every config file. */
export const FIXED_ARGUMENTS: readonly string[] = [
  "--no-pager",
  ...[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.logAllRefUpdates=false",
    "core.sshCommand=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    // Git refuses folders of other users because their config may run programs. Here it cannot run any.
    "safe.directory=*",
  ].flatMap((setting) => ["-c", setting]),
];

const FIXED_ENVIRONMENT: Readonly<Record<string, string>> = {
  LC_ALL: "C",
  TZ: "UTC",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_LITERAL_PATHSPECS: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_REPLACE_OBJECTS: "1",
  // A partial clone would fetch missing objects with programs that its config names. The list of protocols overrides
  // every `protocol.*.allow`; "none" is not the name of a protocol.
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
};

/** Git finds the user's own configuration through these variables. It is outside the root. */
function homeOf(from: NodeJS.ProcessEnv): Record<string, string> {
  const config = from["XDG_CONFIG_HOME"];
  const home = { HOME: from["HOME"] ?? homedir() };
  return config === undefined || config === "" ? home : { ...home, XDG_CONFIG_HOME: config };
}
