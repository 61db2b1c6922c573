/**
 * Who is whose child, from /proc. A snapshot: by the time it is used, some are gone and some are new.
 */
import { readdirSync, readFileSync } from "node:fs";

/** The parent of each process with an id from `lowest` on, zombies left out; empty where there is no /proc. */
export function readParents(lowest: number = 0): Map<number, number> {
  const parents = new Map<number, number>();
  for (const pid of listProcesses()) {
    if (pid < lowest) continue;
    const stat = readProcessText(pid, "stat");
    // The name in parentheses may hold anything, so the fields are counted from its end.
    const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state !== "" && state !== "Z") parents.set(pid, Number(parent));
  }
  return parents;
}

/** `root` and all below it. */
export function descendantsOf(root: number, parents: ReadonlyMap<number, number>): number[] {
  return [...parents.keys()].filter((pid) => {
    let up: number | undefined = pid;
    for (let steps = 0; up !== undefined && up !== root && steps < MAX_DEPTH; steps += 1)
      up = parents.get(up);
    return up === root;
  });
}

export function readProcessText(pid: number, file: "stat" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return ""; // Gone by now, or another user's.
  }
}

/** The id that was given away last; undefined where there is no /proc. */
export function lastProcessId(): number | undefined {
  try {
    return Number(readFileSync("/proc/loadavg", "latin1").trim().split(" ").at(-1));
  } catch {
    return undefined;
  }
}

const MAX_DEPTH = 1_000;

function listProcesses(): number[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return []; // macOS has none.
  }
}
