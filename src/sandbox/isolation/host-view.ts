/**
 * Which parts of the host a sandboxed command may see, read-only: the operating system and nothing that belongs to a
 * person or a service. It is an allow-list: a folder that is not named here does not exist inside, so that homes,
 * data folders and sockets on paths need no list of their own. `/opt` is not named: whole applications lie there, with
 * their keys, and the programs of it that are on PATH come back as toolchains.
 */
import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { createPrivateFiles } from "./private-files.ts";

export interface HostView {
  /** Folders that are bound read-only at their own place. */
  readonly folders: readonly string[];
  /** Links at the top, such as `/bin`, with their targets. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Below `folders`, what is not meant for everybody's eyes. */
  readonly maskedFiles: readonly string[];
  readonly maskedFolders: readonly string[];
  /** Below `/proc`, what root could write although it is the host's, and what tells about the host. */
  readonly procReadOnly: readonly string[];
  readonly procMasked: readonly string[];
  /** Where `/etc/resolv.conf` leads when that is outside `folders`; needed only where the network is on. */
  readonly resolver: string | undefined;
}

/** The system's folders do not come and go; the keys in them do. */
export function createHostView(now: () => number = () => performance.now()): { read(): HostView } {
  const etc = createPrivateFiles({ now });
  let fixed: FixedPart | undefined;
  return {
    read() {
      fixed ??= readFixedPart();
      const found = PRIVATE_PLACES.map((folder) => etc.find(folder, DEPTH_OF_ETC));
      return {
        ...fixed,
        maskedFiles: found.flatMap(({ files }) => files),
        maskedFolders: found.flatMap(({ folders }) => folders),
      };
    },
  };
}

export const hostView = createHostView();

type FixedPart = Omit<HostView, "maskedFiles" | "maskedFolders">;

function readFixedPart(): FixedPart {
  const folders: string[] = [];
  const links: { path: string; target: string }[] = [];
  for (const path of SYSTEM_FOLDERS) {
    const kind = kindOf(path);
    if (kind === "folder" && !isEmpty(path)) folders.push(path);
    if (kind === "link") links.push({ path, target: readlinkSync(path) });
  }
  const isRoot = process.getuid?.() === 0;
  return {
    folders,
    links,
    procReadOnly: isRoot ? PROC_READ_ONLY.filter((path) => hasWritable(path, 0)) : ["/proc/sys"],
    procMasked: isRoot ? PROC_MASKED.filter(isPresent) : [],
    resolver: resolverOutside(folders),
  };
}

const SYSTEM_FOLDERS = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/etc",
  "/nix",
  "/gnu",
  "/var/lib/ca-certificates",
];

/**
 * As root, `/proc/sys/kernel/core_pattern` is code on the host and `sysrq-trigger` its off switch. `irq` and `bus` are
 * closed by bubblewrap itself; what asks for a capability is closed by having none.
 */
const PROC_READ_ONLY = ["/proc/sys", "/proc/sysrq-trigger", "/proc/fs", "/proc/acpi", "/proc/scsi"];
/** Readable for root alone, and about the host's processes. */
const PROC_MASKED = ["/proc/sched_debug"];

/** Of the system's folders, those in which a service's own settings lie. */
const PRIVATE_PLACES = ["/etc", "/usr/local/etc"];
const DEPTH_OF_ETC = 4;

function resolverOutside(folders: readonly string[]): string | undefined {
  try {
    const real = realpathSync("/etc/resolv.conf");
    return folders.some((folder) => real.startsWith(`${folder}/`)) ? undefined : real;
  } catch {
    return undefined; // No resolver is set up: then names do not resolve outside either.
  }
}

function listFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Not readable for us, so neither for the command.
  }
}

function kindOf(path: string): "folder" | "link" | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) return "link";
  return stat?.isDirectory() ? "folder" : undefined;
}

function isPresent(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Whether its owner, which root is, could write anything in it. */
function hasWritable(path: string, depth: number): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stat.isSymbolicLink()) return false;
  if (!stat.isDirectory()) return (stat.mode & 0o222) !== 0;
  return (
    depth < DEPTH_OF_ETC && listFolder(path).some((entry) => hasWritable(join(path, entry.name), depth + 1))
  );
}

function isEmpty(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() ? listFolder(path).length === 0 : stat?.size === 0;
}
