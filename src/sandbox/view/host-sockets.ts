/**
 * Finds the sockets on paths that processes of the host listen on. A network namespace does not cover them, so sockets
 * that the sandbox would show are masked. It must never be the only protection: a socket can be created after this scan.
 */
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { isInside } from "../is-inside.ts";
import { readText } from "../read-plain-file.ts";

/** `shown` holds the folders that the command will see. Names without a leading slash are tried below `root`. */
export function findHostSockets(shown: readonly string[], root: string): string[] {
  const found = new Set<string>();
  for (const name of boundNames()) {
    const path = resolve(root, name);
    if (shown.some((folder) => isInside(path, folder)) && isSocket(path)) found.add(path);
  }
  return [...found];
}

/** Column 8 of /proc/net/unix. Abstract names begin with `@` and belong to the network namespace. */
function boundNames(): string[] {
  let table: string;
  try {
    table = readText("/proc/net/unix");
  } catch {
    return []; // Not readable here. The folders where services keep their sockets are not visible anyway.
  }
  return table.split("\n").flatMap((line) => {
    const name = /^\S+: \S+ \S+ \S+ \S+ \S+ +\S+ (.+)$/.exec(line)?.[1];
    return name === undefined || name.startsWith("@") || name.startsWith("Path") ? [] : [name];
  });
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false; // Deleted while its listener is alive: it cannot be reached by that path.
  }
}
