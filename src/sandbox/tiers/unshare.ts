/**
 * User and mount namespaces with Perl as the launcher, for machines without bubblewrap. The launcher builds the same
 * view of the machine with its own system calls. Needs Linux 5.12, user namespaces, and no program but Perl.
 */
import { relative } from "node:path";
import { viewFor, type CommandView } from "../view/command-view.ts";
import { isInside } from "../is-inside.ts";
import type { Launch } from "./launch.ts";
import type { Protection } from "../protection/protection-plan.ts";
import { perlLauncher, type Step } from "./launcher/perl-launcher.ts";
import { findPerl, LAUNCH, need, pinnedRoot, type PlanRequest, type Programs, type Tier } from "./tier.ts";

export const unshare: Tier = {
  name: "unshare",
  enforces: { network: true, filesystem: true, processes: true, environment: true },
  showsHost: false,
  find: findPerl,
  plan: planUnshare,
};

function planUnshare({ perl }: Programs, request: PlanRequest): Launch {
  const { argv, options } = perlLauncher(need(perl), {
    kind: "namespaces",
    env: request.env,
    filter: { sockets: request.allowNetwork ? "internet" : "families", noSetUserId: true },
    cwd: request.cwd,
    steps: [[request.allowNetwork ? "host" : "own"], ...stepsFor(viewFor(request), request)],
  });
  return {
    ...LAUNCH,
    tier: "unshare",
    argv: [...argv, request.cmd, ...request.args],
    options,
    env: {},
    cwd: pinnedRoot(request.plan),
    reports: true,
    lifeline: true,
    kill: "namespace",
  };
}

const MEGABYTE = 1_048_576;
/** In mount order: the root last, followed by the protected paths in it. */
function stepsFor(view: CommandView, request: PlanRequest): Step[] {
  const { system } = view;
  const { root, rootReadOnly, allowNetwork } = request;
  const resolver = allowNetwork && system.resolver !== undefined ? [system.resolver] : [];
  return [
    ...system.folders.map((path): Step => ["show", path]),
    ...system.links.map(({ path, target }): Step => ["link", target, path]),
    ...[...system.maskedFiles, ...system.maskedFolders].map((path): Step => ["mask", path]),
    ["proc"],
    ...system.procReadOnly.map((path): Step => ["freeze", path]),
    ...system.procMasked.map((path): Step => ["mask", path]),
    ...DEVICE_STEPS,
    ...scratchSteps(view, root),
    ...[...view.readOnly, ...resolver].map((path): Step => ["show", path]),
    ...(allowNetwork ? [] : [["loopback"] satisfies Step]),
    ["root", root, rootReadOnly ? "ro" : "rw"],
    ...request.plan.protections.flatMap((protection) => guardSteps(protection, request)),
    ...[...view.maskedFiles, ...view.maskedFolders].map((path): Step => ["mask", path]),
  ];
}

const DEVICE_STEPS: readonly Step[] = [
  ["memory", "/dev", "0755", `${MEGABYTE}`],
  ...["null", "zero", "full", "random", "urandom"].map((name): Step => ["device", `/dev/${name}`]),
  ["link", "/proc/self/fd", "/dev/fd"],
  ...["stdin", "stdout", "stderr"].map((name, number): Step => [
    "link",
    `/proc/self/fd/${number}`,
    `/dev/${name}`,
  ]),
  ["terminals"],
  ["memory", "/dev/shm", "1777", `${64 * MEGABYTE}`],
  ["seal", "/dev"],
];

/**
 * Empty, in memory, removed with the command. Services keep their sockets in `/run`, so `/run` exists but is empty.
 */
function scratchSteps({ home, system }: CommandView, root: string): Step[] {
  const memory = (path: string): Step => ["memory", path, "1777", `${512 * MEGABYTE}`];
  // Do not mount over a home such as `/` or `/usr`, which contains the system.
  const holdsSystem = ["/proc", "/dev", ...system.folders].some((folder) => isInside(folder, home));
  const ownHome: Step = isInside(home, "/tmp") ? ["folder", home] : memory(home);
  return [
    memory("/tmp"),
    isInside(root, "/var/tmp") ? memory("/var/tmp") : ["link", "/tmp", "/var/tmp"],
    ...(holdsSystem ? [] : [ownHome]),
    ["folder", "/run"],
    ["link", "/run", "/var/run"],
  ];
}

function guardSteps({ kind, path, identity }: Protection, { root, rootReadOnly }: PlanRequest): Step[] {
  const hides = kind === "hideFile" || kind === "hideFolder";
  // Nothing can be swapped or changed in a read-only root.
  if (rootReadOnly && !hides) return [];
  const how = hides ? "hide" : kind === "pin" ? "pin" : "readOnly";
  return [["guard", how, relative(root, path), `${identity.dev}:${identity.ino}`]];
}
