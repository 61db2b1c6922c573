/**
 * Finds the strongest tier that works here, by running each in turn until one does. It must never conclude from a
 * version or a setting that a sandbox would start: only a sandbox that started counts.
 */
import { seccompArchitecture } from "./seccomp-filter.ts";
import type { BwrapFeatures } from "./bwrap-options.ts";
import { findTrustedExecutable } from "./find-executable.ts";
import { readHostView, type HostView } from "./host-view.ts";
import type { IsolationDescription } from "./tier.ts";
import { planLaunch } from "./plan-launch.ts";
import { holdProtections } from "./protection-plan.ts";
import { runProcess } from "../process/run-process.ts";

export interface Programs {
  readonly bwrap?: string | undefined;
  readonly unshare?: string | undefined;
  readonly setpriv?: string | undefined;
  readonly perl?: string | undefined;
  readonly sandboxExec?: string | undefined;
}

export interface Detected {
  readonly description: IsolationDescription;
  readonly programs: Programs;
  readonly features: BwrapFeatures;
  readonly view: HostView;
}

/** `roots` are the spellings of the sandbox root: no program of ours may come from inside it. */
export function findPrograms(path: string, roots: readonly string[]): Programs {
  if (process.platform === "darwin")
    return { sandboxExec: findTrustedExecutable("sandbox-exec", "/usr/bin") };
  if (process.platform !== "linux") return {};
  const find = (name: string): string | undefined => findTrustedExecutable(name, path, roots);
  return { bwrap: find("bwrap"), unshare: find("unshare"), setpriv: find("setpriv"), perl: find("perl") };
}

export async function detectIsolation(programs: Programs): Promise<Detected> {
  const view = readHostView();
  const features = programs.bwrap === undefined ? NO_FEATURES : await readFeatures(programs.bwrap);
  const reasons: string[] = [];
  for (const description of candidates(programs)) {
    const detected: Detected = { description, programs, features, view };
    const failure = await probe(detected);
    if (failure === undefined) return { ...detected, description: explain(description, programs, reasons) };
    reasons.push(`${description.tier} did not start: ${failure}`);
  }
  return { description: explain(NONE, programs, reasons), programs, features, view };
}

const NO_FEATURES: BwrapFeatures = { disableUserns: false, size: false, bindFd: false };

const NONE: IsolationDescription = {
  tier: "none",
  enforces: { network: false, filesystem: false, processes: false, environment: false },
};

function candidates({ bwrap, unshare, setpriv, perl, sandboxExec }: Programs): IsolationDescription[] {
  const found: IsolationDescription[] = [];
  const canFilter = seccompArchitecture() !== undefined;
  if (bwrap !== undefined && canFilter) {
    const enforces = { network: true, filesystem: true, processes: true, environment: true };
    found.push({ tier: "bwrap", enforces });
  }
  if (unshare !== undefined && setpriv !== undefined) {
    // Without the filter, sockets on paths and AF_VSOCK stay within reach.
    const network = perl !== undefined && canFilter;
    found.push({
      tier: "unshare",
      enforces: { network, filesystem: false, processes: true, environment: true },
    });
  }
  if (perl !== undefined && canFilter) {
    const enforces = { network: true, filesystem: false, processes: false, environment: false };
    found.push({ tier: "seccomp", enforces });
  }
  if (sandboxExec !== undefined) {
    const enforces = { network: true, filesystem: true, processes: false, environment: true };
    found.push({ tier: "seatbelt", enforces });
  }
  return found;
}

function explain(
  description: IsolationDescription,
  { bwrap }: Programs,
  reasons: readonly string[],
): IsolationDescription {
  if (description.tier === "bwrap" || description.tier === "seatbelt") return description;
  if (process.platform !== "linux") {
    const reason = `There is no sandbox for ${process.platform}.`;
    return { ...description, reason, remedy: "Run Toolwright on Linux with bubblewrap, or on macOS." };
  }
  if (bwrap === undefined) {
    const reason = ["bubblewrap (bwrap) is not on PATH", ...reasons].join("; ");
    return { ...description, reason: `${reason}.`, remedy: INSTALL };
  }
  return { ...description, reason: `${reasons.join("; ")}.`, remedy: ALLOW_NAMESPACES };
}

const INSTALL =
  "Install bubblewrap: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), " +
  "apk add bubblewrap (Alpine), pacman -S bubblewrap (Arch).";
const ALLOW_NAMESPACES =
  "Let bubblewrap start; most often user namespaces are forbidden: sysctl user.max_user_namespaces=15000 and, where they exist, " +
  "kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0 (or an AppArmor profile " +
  "for bwrap); in a container, a seccomp profile that lets bubblewrap create them.";

/** Far longer than a start ever takes: a machine that is busy must not be taken for one without a sandbox. */
const PROBE_LIMIT_MS = 30_000;

/** What went wrong, or undefined when the tier works. */
async function probe(detected: Detected): Promise<string | undefined> {
  const plan = holdProtections("/usr/lib", [], []);
  const launch = planLaunch(detected, {
    plan,
    cmd: "/bin/sh",
    args: ["-c", ":"],
    cwd: "/usr/lib",
    root: "/usr/lib",
    rootReadOnly: true,
    env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" },
    allowNetwork: false,
    hidden: [],
    readOnly: [],
  });
  const result = await runProcess({
    launch,
    maxOutputBytes: 4_096,
    timeoutMs: PROBE_LIMIT_MS,
    merge: true,
  }).finally(() => plan.close());
  const ended = result.status.exitCode ?? result.exitCode;
  if (result.stopped === undefined && ended === 0 && result.status.failed === undefined) return undefined;
  const words = result.mismatch ?? result.status.failed ?? result.output.text().trim();
  return words === "" ? `it ended with ${result.signal ?? `exit code ${ended}`}` : words;
}

async function readFeatures(bwrap: string): Promise<BwrapFeatures> {
  const launch = {
    tier: "none",
    argv: [bwrap, "--help"],
    env: {},
    cwd: "/",
    reports: false,
    lifeline: false,
    kill: "group",
  } as const;
  const none = { filter: undefined, options: undefined, held: [], expected: undefined };
  const request = { launch: { ...launch, ...none }, merge: true } as const;
  const { output } = await runProcess({ ...request, maxOutputBytes: 65_536, timeoutMs: PROBE_LIMIT_MS });
  const help = output.text();
  return {
    disableUserns: help.includes("--disable-userns"),
    size: help.includes("--size "),
    bindFd: help.includes("--ro-bind-fd"),
  };
}
