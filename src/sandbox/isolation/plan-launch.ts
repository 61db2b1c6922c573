/**
 * Turns a command into what is really spawned under a tier. It must never fall back to a weaker tier than the one it
 * was given: a tier that cannot be planned is an error.
 */
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { boundDescriptors, bwrapOptions } from "./bwrap-options.ts";
import type { Detected } from "./detect-isolation.ts";
import { findHostSockets } from "./host-sockets.ts";
import { isInside } from "./is-inside.ts";
import {
  FILTER_DESCRIPTOR,
  FIRST_HELD_DESCRIPTOR,
  GATE_DESCRIPTOR,
  OPTIONS_DESCRIPTOR,
  STATUS_DESCRIPTOR,
  type Launch,
} from "./launch.ts";
import { perlLauncher } from "./perl-launcher.ts";
import type { ProtectionPlan } from "./protection-plan.ts";
import { seatbeltProfile } from "./seatbelt-profile.ts";
import { buildSeccompFilter, seccompArchitecture } from "./seccomp-filter.ts";
import { findToolchains } from "./toolchains.ts";
import { unshareCommand } from "./unshare-options.ts";

export interface PlanRequest {
  readonly cmd: string;
  readonly args: readonly string[];
  /** Real paths both. */
  readonly root: string;
  readonly cwd: string;
  /** The same folder held by a descriptor, for tiers in which the command sees the host's files. */
  readonly pinnedCwd?: string | undefined;
  readonly rootReadOnly: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly allowNetwork: boolean;
  readonly hidden: readonly string[];
  readonly readOnly: readonly string[];
  /** What is protected in the root; the caller keeps it open until the command has ended. */
  readonly plan: ProtectionPlan;
}

export function planLaunch(detected: Detected, request: PlanRequest): Launch {
  switch (detected.description.tier) {
    case "bwrap":
      return planBwrap(detected, request);
    case "unshare":
      return planUnshare(detected, request);
    case "seccomp":
      return planSeccomp(detected, request);
    case "seatbelt":
      return planSeatbelt(detected, request);
    case "none":
      return planPlain(request);
  }
}

/** A command with the host's files and processes, in a clean environment all the same. */
export function planPlain(request: Omit<PlanRequest, "plan">): Launch {
  return {
    ...LAUNCH,
    tier: "none",
    ...plainPart(request),
    argv: [request.cmd, ...request.args],
    kill: "group",
  };
}

const LAUNCH = {
  filter: undefined,
  options: undefined,
  held: [],
  expected: undefined,
  reports: false,
  lifeline: false,
} as const;

function planBwrap({ programs, view, features }: Detected, request: PlanRequest): Launch {
  const { root, env, allowNetwork, plan, rootReadOnly } = request;
  const home = env["HOME"] !== undefined && isAbsolute(env["HOME"]) ? env["HOME"] : "/nonexistent";
  const toolchains = findToolchains({
    path: env["PATH"] ?? "",
    command: request.cmd,
    home,
    root,
    visible: [...view.folders, ...view.links.map(({ path }) => path)],
  });
  const outside = request.readOnly.filter((path) => isAbsolute(path) && !isInside(path, root));
  const shown = [...view.folders, ...toolchains, ...outside, root];
  const hiddenOutside = request.hidden.filter((path) => {
    return isAbsolute(path) && !isInside(path, root) && shown.some((folder) => isInside(path, folder));
  });
  const hiddenFiles = [...findHostSockets(shown, root), ...hiddenOutside.filter(existsSync)];
  const held = boundDescriptors(plan, rootReadOnly, features);
  const options = bwrapOptions({
    rootReadOnly,
    cwd: request.cwd,
    home,
    allowNetwork,
    view,
    features,
    readOnly: [...toolchains, ...outside],
    plan,
    hiddenFiles,
    seccompDescriptor: FILTER_DESCRIPTOR,
    statusDescriptor: STATUS_DESCRIPTOR,
    gateDescriptor: GATE_DESCRIPTOR,
    handedOver: (descriptor) => FIRST_HELD_DESCRIPTOR + held.indexOf(descriptor),
  });
  return {
    tier: "bwrap",
    // Through a descriptor, so that /proc/1/cmdline does not tell the command what is hidden from it.
    argv: [need(programs.bwrap), "--args", `${OPTIONS_DESCRIPTOR}`, "--", request.cmd, ...request.args],
    options: Buffer.from(options.map((option) => `${option}\0`).join("")),
    filter: buildFilter(allowNetwork ? "internet" : "families"),
    held,
    expected: { plan, rootReadOnly, hiddenFiles },
    env,
    cwd: "/",
    reports: true,
    lifeline: false,
    kill: "namespace",
  };
}

function planUnshare({ programs }: Detected, request: PlanRequest): Launch {
  const arch = seccompArchitecture();
  const filtered = programs.perl !== undefined && arch !== undefined;
  const filter = filtered ? buildFilter(request.allowNetwork ? "families" : "none") : undefined;
  const prefix = unshareCommand({
    setpriv: need(programs.setpriv),
    unshare: need(programs.unshare),
    allowNetwork: request.allowNetwork,
    launcher:
      filter === undefined || programs.perl === undefined || arch === undefined
        ? undefined
        : perlLauncher({ perl: programs.perl, arch, filterBytes: filter.length }),
  });
  return {
    ...LAUNCH,
    tier: "unshare",
    ...plainPart(request),
    argv: [...prefix, request.cmd, ...request.args],
    filter,
    reports: true,
    lifeline: true,
    kill: "namespace",
  };
}

function planSeccomp({ programs }: Detected, request: PlanRequest): Launch {
  const filter = buildFilter(request.allowNetwork ? "families" : "none");
  const arch = need(seccompArchitecture());
  const prefix = perlLauncher({
    perl: need(programs.perl),
    arch,
    filterBytes: filter.length,
  });
  return {
    ...LAUNCH,
    tier: "seccomp",
    ...plainPart(request),
    argv: [...prefix, request.cmd, ...request.args],
    filter,
    reports: true,
    lifeline: true,
    kill: "supervisor",
  };
}

function planSeatbelt({ programs }: Detected, request: PlanRequest): Launch {
  const { root, env, cmd, args, rootReadOnly, allowNetwork } = request;
  const home = env["HOME"] ?? "/var/empty";
  const toolchains = findToolchains({
    path: env["PATH"] ?? "",
    command: cmd,
    home,
    root,
    visible: MACOS_SYSTEM,
  });
  const outside = request.readOnly.filter((path) => isAbsolute(path) && !isInside(path, root));
  const profile = seatbeltProfile({
    root,
    rootReadOnly,
    home,
    allowNetwork,
    readOnly: [...toolchains, ...outside],
    protections: request.plan.protections,
  });
  const argv = [need(programs.sandboxExec), "-p", profile, cmd, ...args];
  return { ...LAUNCH, tier: "seatbelt", ...plainPart(request), argv, kill: "group" };
}

const MACOS_SYSTEM = ["/usr", "/bin", "/sbin", "/System", "/Library", "/opt", "/Applications"];

function plainPart({ env, cwd, pinnedCwd }: Omit<PlanRequest, "plan">): Pick<Launch, "env" | "cwd"> {
  return { env, cwd: pinnedCwd ?? cwd };
}

function buildFilter(sockets: "families" | "internet" | "none"): Buffer {
  return buildSeccompFilter(need(seccompArchitecture()), { sockets });
}

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("A tier was chosen whose programs were not found.");
  return value;
}
