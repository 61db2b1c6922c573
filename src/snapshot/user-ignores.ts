/**
 * Reads the user's own ignore file, which the sandbox does not show. Git runs on the host for this, in an empty
 * folder of our own: it reads the user's configuration and nothing that an agent can write.
 */
import { execFile } from "node:child_process";
import { constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { usePlainFile } from "../sandbox/read-plain-file.ts";
import { FIXED_ARGUMENTS, type GitProgram } from "./git-program.ts";

export async function readUserIgnores(program: GitProgram, folder: string): Promise<Buffer> {
  const { GIT_CONFIG_GLOBAL: _global, GIT_CONFIG_NOSYSTEM: _system, ...env } = program.env;
  const args = [...FIXED_ARGUMENTS, "config", "--type=path", "--null", "--get", "core.excludesFile"];
  const { stdout } = await promisify(execFile)(program.file, args, {
    cwd: folder,
    env: { ...env, GIT_DIR: folder },
    encoding: "utf8",
    timeout: 10_000,
  }).catch(() => ({ stdout: "" })); // Exit code 1 means that none is configured.
  const home = program.env["XDG_CONFIG_HOME"] ?? join(program.env["HOME"] ?? "/", ".config");
  const file = stdout.replace(/\0$/, "") || join(home, "git", "ignore");
  try {
    // It may lie in the root (a folder of dotfiles), where a command could put a pipe in its place.
    const read = usePlainFile(file, constants.O_RDONLY, (descriptor) => readFileSync(descriptor));
    return read ?? Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0); // Most users have none.
  }
}
