/**
 * Moves a command that is still running after a short delay into a control group, with all its descendants. This does
 * not happen at the start: joining a group makes the kernel wait for all processors. That costs more than the whole
 * sandbox, and most commands end sooner. It must never delay or fail a command.
 */
import { writeFile } from "node:fs/promises";
import { commandGroups, type CommandGroup } from "../tiers/command-group.ts";
import { descendantsOf, readParents } from "./process-table.ts";

export interface ResourceLimit {
  stop(): void;
}

export function limitResources(pid: number): ResourceLimit {
  let group: CommandGroup | undefined;
  let isOver = false;
  const timer = setTimeout(() => {
    group = commandGroups.open();
    if (group !== undefined) void join(group, pid, () => isOver);
  }, GRACE_MS);
  return {
    stop() {
      isOver = true;
      clearTimeout(timer);
      group?.close();
    },
  };
}

const GRACE_MS = 100;
const MAX_ROUNDS = 100;

/** Children of a member are members too, so this stops once a scan finds no process outside the group. */
async function join(group: CommandGroup, pid: number, isOver: () => boolean): Promise<void> {
  const members = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS && !isOver(); round += 1) {
    const found = descendantsOf(pid, readParents()).filter((each) => !members.has(each));
    if (found.length === 0) return;
    for (const each of found) {
      members.add(each);
      for (const file of group.joinFiles) {
        // The process is gone, or the group is full. The limits still apply to its members.
        await writeFile(file, `${each}`).catch(() => undefined);
      }
    }
  }
}
