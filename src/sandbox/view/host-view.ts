/**
 * Which parts of the host a sandboxed command may see, read-only: the operating system, and nothing that belongs to a
 * user or a service. It is an allow-list: a folder that is not listed does not exist inside, so homes, data folders
 * and sockets on paths need no list. `/opt` is not listed because whole applications with their keys are there. Its
 * programs that are on PATH come back as toolchains.
 */
import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { createPrivateFiles, SECRET_NAMES } from "./private-files.ts";

export interface HostView {
  /** Folders that are bound read-only at their own path. */
  readonly folders: readonly string[];
  /** Links at the top level, such as `/bin`, with their targets. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Private files below `folders`. */
  readonly maskedFiles: readonly string[];
  readonly maskedFolders: readonly string[];
  /** Below `/proc`: host files that root could write, and files that reveal details of the host. */
  readonly procReadOnly: readonly string[];
  readonly procMasked: readonly string[];
  /** The target of `/etc/resolv.conf` if it is outside `folders`. Needed only when the network is on. */
  readonly resolver: string | undefined;
}

/** The system's folders do not change, but the keys in them do. */
export function createHostView(now: () => number = () => performance.now()): { read(): HostView } {
  const etc = createPrivateFiles({ now, secretNames: SECRET_NAMES });
  let fixed: FixedPart | undefined;
  return {
    read() {
      fixed ??= readFixedPart();
      const found = PRIVATE_FOLDERS.map((folder) => etc.find(folder));
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
 * As root, `/proc/sys/kernel/core_pattern` runs code on the host and `sysrq-trigger` can switch it off. Bubblewrap
 * itself closes `irq` and `bus`. Files that require a capability are closed because the command has none.
 */
const PROC_READ_ONLY = ["/proc/sys", "/proc/sysrq-trigger", "/proc/fs", "/proc/acpi", "/proc/scsi"];
/** Readable only for root, and reveals the host's processes. */
const PROC_MASKED = ["/proc/sched_debug"];

/** The system folders that contain the settings of services. */
const PRIVATE_FOLDERS = ["/etc", "/usr/local/etc"];
const DEPTH_OF_PROC = 4;

function resolverOutside(folders: readonly string[]): string | undefined {
  try {
    const real = realpathSync("/etc/resolv.conf");
    return folders.some((folder) => real.startsWith(`${folder}/`)) ? undefined : real;
  } catch {
    return undefined; // No resolver is configured, so names do not resolve outside either.
  }
}

function listFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Not readable for us, so not for the command either.
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

/** Whether its owner, which is root, could write anything in it. */
function hasWritable(path: string, depth: number): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stat.isSymbolicLink()) return false;
  if (!stat.isDirectory()) return (stat.mode & 0o222) !== 0;
  return (
    depth < DEPTH_OF_PROC && listFolder(path).some((entry) => hasWritable(join(path, entry.name), depth + 1))
  );
}

function isEmpty(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() ? listFolder(path).length === 0 : stat?.size === 0;
}
