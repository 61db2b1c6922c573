/**
 * A control group for one command, if this process may create one. It limits memory and the number of processes,
 * which no ulimit does for root. Without a group only the timeout limits a command. It must never stop a command from
 * running.
 */
import { randomUUID } from "node:crypto";
import { accessSync, constants, mkdirSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { readText } from "../read-plain-file.ts";

export interface CommandGroup {
  /** A process joins by writing its id into each of these files. */
  readonly joinFiles: readonly string[];
  close(): void;
}

export const MAX_PROCESSES = Math.max(1_024, availableParallelism() * 128);
/** Three quarters of the machine: enough for a build, but not enough to kill the agent along with it. */
export const MAX_MEMORY_BYTES = Math.floor(totalmem() * 0.75);

/** The first command detects where groups can be created. */
export function createCommandGroups(): { open(): CommandGroup | undefined } {
  let parents: readonly Parent[] | undefined;
  return {
    open() {
      parents ??= findParents();
      const name = freshName();
      const folders = parents.flatMap((parent) => makeGroup(join(parent.folder, name), parent.limits) ?? []);
      if (folders.length === 0) return undefined;
      return {
        joinFiles: folders.map((folder) => join(folder, "cgroup.procs")),
        close: () => folders.forEach((folder) => removeSoon(folder, REMOVE_TRIES)),
      };
    },
  };
}

export const commandGroups = createCommandGroups();

interface Parent {
  readonly folder: string;
  readonly limits: Readonly<Record<string, string>>;
}

const MOUNT = "/sys/fs/cgroup";
const PREFIX = "toolwright-";
const REMOVE_TRIES = 20;
const REMOVE_PAUSE_MS = 25;

/** Random, because threads of one process share its id, and the group of an ended command may exist for a moment. */
const freshName = (): string => `${PREFIX}${process.pid}-${randomUUID()}`;

/** The groups under which ours can be created, verified by creating one. */
function findParents(): Parent[] {
  const lines = readOrEmpty("/proc/self/cgroup").split("\n");
  const found = lines.flatMap((line): Parent[] => {
    const [, controllers, path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === "") return unifiedParents(path);
    if (controllers === "pids")
      return [{ folder: join(MOUNT, "pids", path), limits: { "pids.max": `${MAX_PROCESSES}` } }];
    if (controllers !== "memory") return [];
    return [
      { folder: join(MOUNT, "memory", path), limits: { "memory.limit_in_bytes": `${MAX_MEMORY_BYTES}` } },
    ];
  });
  return found.filter(({ folder, limits }) => {
    if (!isWritable(folder)) return false;
    removeLeftovers(folder);
    const trial = makeGroup(join(folder, freshName()), limits);
    if (trial !== undefined) removeSoon(trial, REMOVE_TRIES);
    return trial !== undefined;
  });
}

/** Version 2: our own group or its parent, whichever delegates the controllers. */
function unifiedParents(path: string): Parent[] {
  const own = join(MOUNT, path);
  const folders = path === "/" ? [own] : [own, dirname(own)];
  const folder = folders.find((each) => /\bpids\b/.test(readOrEmpty(join(each, "cgroup.subtree_control"))));
  if (folder === undefined || !isWritable(join(folder, "cgroup.procs"))) return [];
  const hasMemory = /\bmemory\b/.test(readOrEmpty(join(folder, "cgroup.subtree_control")));
  const limits = {
    "pids.max": `${MAX_PROCESSES}`,
    ...(hasMemory ? { "memory.max": `${MAX_MEMORY_BYTES}` } : {}),
  };
  return [{ folder, limits }];
}

function makeGroup(folder: string, limits: Readonly<Record<string, string>>): string | undefined {
  try {
    mkdirSync(folder);
    for (const [file, value] of Object.entries(limits)) writeFileSync(join(folder, file), value);
    return folder;
  } catch {
    removeSoon(folder, 1); // Read-only, not delegated, or without this controller: the command runs without limits.
    return undefined;
  }
}

/** A group can be removed once its last process is gone, which may take the kernel a moment. */
function removeSoon(folder: string, tries: number): void {
  try {
    rmdirSync(folder);
  } catch {
    if (tries > 1) setTimeout(() => removeSoon(folder, tries - 1), REMOVE_PAUSE_MS).unref();
  }
}

/** Removes groups of processes that were killed before they could clean up. */
function removeLeftovers(folder: string): void {
  for (const name of listNames(folder)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isWritable(`/proc/${pid}`, constants.F_OK)) removeSoon(join(folder, name), 1);
  }
}

function readOrEmpty(path: string): string {
  try {
    return readText(path);
  } catch {
    return ""; // This version or controller does not exist here.
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // We left nothing behind.
  }
}

function isWritable(path: string, mode: number = constants.W_OK): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false; // Missing, or not writable for us.
  }
}
