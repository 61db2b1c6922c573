/**
 * Reads parent and child relations from /proc. The result is a snapshot: processes may have ended or started since.
 */
import { readdirSync, readFileSync } from "node:fs";

/** The parent of each process whose id is at least `lowest`, without zombies. Empty if there is no /proc. */
export function readParents(lowest: number = 0): Map<number, number> {
  const parents = new Map<number, number>();
  for (const pid of listProcesses()) {
    if (pid < lowest) continue;
    const stat = readProcessText(pid, "stat");
    // The name in parentheses may contain anything, so count the fields from its end.
    const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state !== "" && state !== "Z") parents.set(pid, Number(parent));
  }
  return parents;
}

/** `root` and all its descendants. */
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
    return ""; // The process is gone, or belongs to another user.
  }
}

/** The most recently assigned id, or undefined if there is no /proc. */
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
    return []; // macOS has no /proc.
  }
}
