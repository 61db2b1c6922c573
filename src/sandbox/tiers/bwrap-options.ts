/**
 * Builds the bubblewrap options for one command: the complete profile. Each line closes a hole that was found. Do not
 * remove one to make a program work. The root is mounted last, followed by the protected paths inside it.
 */
import { isInside } from "../is-inside.ts";
import type { HostView } from "../view/host-view.ts";
import type { Protection, ProtectionPlan } from "../protection/protection-plan.ts";

export interface BwrapRequest {
  readonly rootReadOnly: boolean;
  readonly cwd: string;
  readonly home: string;
  readonly allowNetwork: boolean;
  readonly view: HostView;
  /** Outside the root, visible read-only: toolchains and paths that the caller names. */
  readonly readOnly: readonly string[];
  readonly plan: ProtectionPlan;
  readonly hiddenFiles: readonly string[];
  readonly hiddenFolders: readonly string[];
  readonly features: BwrapFeatures;
  /** The descriptors from which bubblewrap reads the filter, and to which it writes its status. */
  readonly seccompDescriptor: number;
  readonly statusDescriptor: number;
  /** Blocks the command until its mounts have been checked. */
  readonly gateDescriptor: number;
  /** The number under which bubblewrap receives a descriptor of the plan. */
  readonly handedOver: (descriptor: number) => number;
}

/** Options that the installed version supports. */
export interface BwrapFeatures {
  readonly disableUserns: boolean;
  readonly size: boolean;
  /** Whether it can bind by descriptor instead of by path. */
  readonly bindFd: boolean;
}

export function bwrapOptions(request: BwrapRequest): string[] {
  return [
    ...namespaces(request),
    ...hostFolders(request),
    ...deviceFolders(request),
    ...scratchFolders(request),
    ...request.readOnly.flatMap((path) => ["--ro-bind", path, path]),
    ...(request.allowNetwork && request.view.resolver !== undefined
      ? ["--ro-bind", request.view.resolver, request.view.resolver]
      : []),
    ...bind(request, request.plan.root, request.rootReadOnly),
    ...request.plan.protections.flatMap((protection) => mountsOf(protection, request)),
    ...request.hiddenFiles.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...request.hiddenFolders.flatMap((path) => emptyFolder(path, request.features)),
    "--remount-ro",
    "/",
    "--chdir",
    request.cwd,
    "--seccomp",
    `${request.seccompDescriptor}`,
    "--json-status-fd",
    `${request.statusDescriptor}`,
    "--block-fd",
    `${request.gateDescriptor}`,
  ];
}

/** The descriptors that the options refer to, in the order in which they are passed. */
export function boundDescriptors(
  plan: ProtectionPlan,
  rootReadOnly: boolean,
  features: BwrapFeatures,
): number[] {
  if (!features.bindFd) return [];
  const bound = rootReadOnly
    ? []
    : plan.protections.filter(({ kind }) => kind === "pin" || kind === "readOnly");
  return [plan.root, ...bound].map(({ descriptor }) => descriptor);
}

const MEGABYTE = 1_048_576;

function namespaces({ allowNetwork, features }: BwrapRequest): string[] {
  return [
    "--unshare-user",
    ...(features.disableUserns ? ["--disable-userns"] : []),
    "--unshare-pid",
    ...(allowNetwork ? [] : ["--unshare-net"]),
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
  ];
}

function hostFolders(request: BwrapRequest): string[] {
  const { view } = request;
  return [
    ...view.folders.flatMap((path) => ["--ro-bind", path, path]),
    ...view.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...view.maskedFiles.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...view.maskedFolders.flatMap((path) => emptyFolder(path, request.features)),
  ];
}

function deviceFolders({ view, features }: BwrapRequest): string[] {
  return [
    "--proc",
    "/proc",
    // Bind the kernel's files, not the files of the new mount: as root, a command could write the host's through them.
    ...view.procReadOnly.flatMap((path) => ["--ro-bind", path, path]),
    ...view.procMasked.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    "--dev",
    "/dev",
    ...tmpfs("/dev/shm", 64 * MEGABYTE, features),
    "--remount-ro",
    "/dev",
  ];
}

/**
 * Empty, in memory, removed with the command. Services keep their sockets in `/run`, so `/run` exists but is empty.
 */
function scratchFolders({ home, plan, view, features }: BwrapRequest): string[] {
  const root = plan.root.path;
  const folders = tmpfs("/tmp", 512 * MEGABYTE, features);
  if (isInside(root, "/var/tmp")) folders.push(...tmpfs("/var/tmp", 512 * MEGABYTE, features));
  else folders.push("--symlink", "/tmp", "/var/tmp");
  // Do not mount over a home such as `/` or `/usr`, which contains the system.
  const holdsSystem = ["/proc", "/dev", ...view.folders].some((folder) => isInside(folder, home));
  if (isInside(home, "/tmp")) folders.push("--dir", home);
  else if (!holdsSystem) folders.push(...tmpfs(home, 512 * MEGABYTE, features));
  return [...folders, "--dir", "/run", "--symlink", "/run", "/var/run"];
}

function tmpfs(path: string, bytes: number, features: BwrapFeatures): string[] {
  return ["--perms", "1777", ...(features.size ? ["--size", `${bytes}`] : []), "--tmpfs", path];
}

/** One page of memory that cannot be written. This is cheaper than a mount followed by a read-only remount. */
function emptyFolder(path: string, features: BwrapFeatures): string[] {
  return features.size
    ? ["--perms", "0555", "--size", "4096", "--tmpfs", path]
    : ["--tmpfs", path, "--remount-ro", path];
}

function mountsOf(protection: Protection, request: BwrapRequest): string[] {
  const { kind, path } = protection;
  if (kind === "hideFile") return ["--ro-bind", "/dev/null", path];
  if (kind === "hideFolder") return emptyFolder(path, request.features);
  // Nothing can be swapped or changed in a read-only root.
  return request.rootReadOnly ? [] : bind(request, protection, kind === "readOnly");
}

/** Binds by descriptor if the installed version supports it. A bind by path is still compared with the plan. */
function bind(
  { features, handedOver }: BwrapRequest,
  { path, descriptor }: Pick<Protection, "path" | "descriptor">,
  readOnly: boolean,
): string[] {
  const option = readOnly ? "--ro-bind" : "--bind";
  return features.bindFd ? [`${option}-fd`, `${handedOver(descriptor)}`, path] : [option, path, path];
}
