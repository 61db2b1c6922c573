/**
 * Kills the processes that a plain process started, where no namespace does it: children that left the group (setsid)
 * and orphans that were reparented to init (double fork). This is best effort and not a security boundary: a program
 * that clears its environment and forks twice escapes.
 */
import { descendantsOf, lastProcessId, readParents, readProcessText } from "./process-table.ts";

/** Set for plain runs only, so that orphans can be recognised. */
export const CALL_MARK = "TOOLWRIGHT_CALL";

/**
 * `env` is the environment that the process was started with. Only processes of this call are killed. Until process
 * ids wrap around, descendants have higher ids. After a command that ended without a kill, checking only higher ids is
 * enough and far cheaper.
 */
export function killDescendants(
  pid: number,
  env: Readonly<Record<string, string>>,
  who: "everybody" | "younger" = "everybody",
): void {
  const mark = env[CALL_MARK] === undefined ? undefined : `${CALL_MARK}=${env[CALL_MARK]}`;
  // A process may fork between the scan and the kill, so repeat until the scan finds none.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const parents = readParents(who === "younger" && !haveIdsStartedOver(pid) ? pid : 0);
    const marked = [...parents.keys()].filter((each) => mark !== undefined && isMarked(each, mark));
    const found = new Set([...descendantsOf(pid, parents), ...marked]);
    found.delete(process.pid);
    if (found.size === 0) return;
    for (const each of found) kill(each);
  }
}

const MAX_ROUNDS = 20;

/** Whether a process that started after `pid` may have a lower id. */
function haveIdsStartedOver(pid: number): boolean {
  return (lastProcessId() ?? 0) < pid;
}

function isMarked(pid: number, mark: string): boolean {
  return readProcessText(pid, "environ").split("\0").includes(mark);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Already gone.
  }
}
