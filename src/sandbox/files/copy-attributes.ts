/**
 * Copies the extended attributes and the access list of a replaced file to the new one. Node has no call for them, so
 * `cp` does it, by descriptors. It must never fail a write: without `cp` or without such attributes, nothing is
 * copied.
 */
import { spawn } from "node:child_process";
import { closeSync, constants, existsSync, openSync } from "node:fs";
import type { Directory, PathStrategy } from "./path-strategy.ts";

export async function copyAttributes(
  from: { readonly directory: Directory; readonly name: string; readonly strategy: PathStrategy },
  to: number,
): Promise<void> {
  const cp = process.platform === "linux" ? COPY_PROGRAMS.find((path) => existsSync(path)) : undefined;
  if (cp === undefined) return;
  let source: number;
  try {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | from.strategy.fileFlags;
    source = openSync(`${from.directory.base}/${from.name}`, flags);
  } catch {
    return; // Writable but not readable, or gone.
  }
  try {
    await run(cp, source, to);
  } finally {
    closeSync(source);
  }
}

/** Not from PATH, where an agent may have put another one. */
const COPY_PROGRAMS = ["/usr/bin/cp", "/bin/cp"];
const ARGUMENTS = ["--attributes-only", "--preserve=mode,xattr", "--", "/proc/self/fd/3", "/proc/self/fd/4"];

function run(cp: string, source: number, target: number): Promise<void> {
  return new Promise((done) => {
    const child = spawn(cp, ARGUMENTS, {
      stdio: ["ignore", "ignore", "ignore", source, target],
      env: {},
      cwd: "/",
    });
    child.once("error", () => done());
    child.once("close", () => done());
  });
}
