/**
 * Ends what a plain process started, where no namespace does it: children that left the group (setsid) and orphans
 * that went to init (double fork). The best that can be done from outside, and no boundary: a program that cleans its
 * environment and forks twice gets away.
 */
import { descendantsOf, lastProcessId, readParents, readProcessText } from "./process-table.ts";

/** Set for plain runs only, to know one's orphans again. */
export const CALL_MARK = "TOOLWRIGHT_CALL";

/**
 * `env` is what the process was started with. Only processes of this very call are ended. Descendants have higher ids
 * until the ids start over: a look at these alone is enough, and far cheaper, after a command that ended by itself.
 */
export function killDescendants(
  pid: number,
  env: Readonly<Record<string, string>>,
  who: "everybody" | "younger" = "everybody",
): void {
  const mark = env[CALL_MARK] === undefined ? undefined : `${CALL_MARK}=${env[CALL_MARK]}`;
  // A process may fork between the look and the kill, so look until nothing is found.
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

/** Whether a process that was started after `pid` may have a lower id. */
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
    // Gone by now.
  }
}
