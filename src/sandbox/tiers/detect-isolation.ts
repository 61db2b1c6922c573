/**
 * Finds the strongest tier that works on this machine by running each in turn. It must never conclude from a version
 * or a setting that a sandbox holds: only a sandbox that was started and attacked counts.
 */
import type { Launch } from "./launch.ts";
import { probeTier } from "./probe-tier.ts";
import { findTrustedExecutable } from "./find-executable.ts";
import type { IsolationDescription } from "./isolation-tier.ts";
import { none, tiersFor } from "./tiers.ts";
import type { PlanRequest, Programs, Tier } from "./tier.ts";

export interface Detected {
  readonly description: IsolationDescription;
  readonly programs: Programs;
  /** Whether a command sees the host's files under their own paths. */
  readonly showsHost: boolean;
  plan(request: PlanRequest): Launch;
}

/** Absolute paths of the programs that build a sandbox, by name. */
export type FoundPrograms = Readonly<Record<string, string | undefined>>;

/** `roots` holds the spellings of the sandbox root: none of our programs may come from inside it. */
export function findPrograms(path: string, roots: readonly string[]): FoundPrograms {
  return Object.fromEntries(
    ["bwrap", "perl"].map((name) => [name, findTrustedExecutable(name, path, roots)]),
  );
}

export async function detectIsolation(
  found: FoundPrograms,
  tiers: readonly Tier[] = tiersFor(process.platform),
): Promise<Detected> {
  const find = (name: string): string | undefined => found[name];
  const perl = find("perl");
  const reasons: string[] = [];
  for (const tier of tiers) {
    const programs = await tier.find(find);
    const failure = typeof programs === "string" ? programs : await probeTier(tier, programs, perl);
    if (typeof programs !== "string" && failure === undefined) return detectedAs(tier, programs, reasons);
    const words = `${tier.name}: ${failure ?? "unknown"}`;
    if (!reasons.includes(words)) reasons.push(words);
  }
  return detectedAs(none, {}, reasons);
}

function detectedAs(tier: Tier, programs: Programs, reasons: readonly string[]): Detected {
  return {
    description: describe(tier, reasons),
    programs,
    showsHost: tier.showsHost,
    plan: (request) => tier.plan(programs, request),
  };
}

function describe({ name, enforces, limits }: Tier, reasons: readonly string[]): IsolationDescription {
  const isFull = Object.values(enforces).every(Boolean);
  if (isFull || name === "seatbelt") return { tier: name, enforces };
  if (process.platform !== "linux") {
    const reason =
      reasons.length === 0 ? `There is no sandbox for ${process.platform}.` : `${reasons.join("; ")}.`;
    return { tier: name, enforces, reason, remedy: "Run Toolwright on Linux with bubblewrap, or on macOS." };
  }
  const reason = [`${reasons.join("; ")}.`, ...(limits === undefined ? [] : [limits])].join(" ");
  return { tier: name, enforces, reason, remedy: REMEDY };
}

const REMEDY =
  "Install bubblewrap (apt-get install bubblewrap; dnf, apk and pacman have it under the same name) or Perl, and allow " +
  "user namespaces: sysctl user.max_user_namespaces=15000 and, where they exist, " +
  "kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0 (or an AppArmor profile for " +
  "bwrap); in a container, a seccomp profile that allows unshare and mount. Without user namespaces, Linux 5.13 or " +
  "newer with Landlock and Perl confines files and the network.";

/** Used when isolation is off. */
export const unconfined: Detected = detectedAs(none, {}, []);
