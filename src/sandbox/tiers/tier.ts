/**
 * Defines a tier: how its programs are found, what it claims, and how it launches a command. Each tier has its own
 * file, and `tiers.ts` defines the order in which they are tried.
 */
import type { BwrapFeatures } from "./bwrap-options.ts";
import type { Launch } from "./launch.ts";
import type { ProtectionPlan } from "../protection/protection-plan.ts";
import { seccompArchitecture } from "./seccomp-filter.ts";
import type { IsolationDescription, IsolationTier } from "./isolation-tier.ts";

export interface PlanRequest {
  readonly cmd: string;
  readonly args: readonly string[];
  /** Both are real paths. */
  readonly root: string;
  readonly cwd: string;
  /** The same folder held by a descriptor, for tiers in which the command sees the host's files. */
  readonly pinnedCwd?: string | undefined;
  readonly rootReadOnly: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly allowNetwork: boolean;
  readonly hidden: readonly string[];
  readonly readOnly: readonly string[];
  /** The protected paths in the root. The caller keeps the plan open until the command has ended. */
  readonly plan: ProtectionPlan;
}

/** Absolute paths, none of them inside the sandbox root. */
export interface Programs {
  readonly bwrap?: string | undefined;
  readonly features?: BwrapFeatures | undefined;
  readonly perl?: string | undefined;
  readonly sandboxExec?: string | undefined;
}

/** Finds a trusted program by name, or returns undefined. */
export type FindProgram = (name: string) => string | undefined;

export interface Tier {
  readonly name: IsolationTier;
  /** What it claims. A probe attacks each claim from inside before the tier is used. */
  readonly enforces: IsolationDescription["enforces"];
  /**
   * Whether a command sees the host's files under their own paths, so that a missing program is detected up front.
   */
  readonly showsHost: boolean;
  /** Notes for users of this tier, besides the claims that it does not enforce. */
  readonly limits?: string;
  /** The programs that it needs, or a message that says why it cannot be used here. */
  find(find: FindProgram): Promise<Programs | string>;
  plan(programs: Programs, request: PlanRequest): Launch;
}

export function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("A tier was chosen whose programs were not found.");
  return value;
}

/** Defaults for fields that most tiers do not use. */
export const LAUNCH = {
  filter: undefined,
  options: undefined,
  held: [],
  expected: undefined,
  reports: false,
  lifeline: false,
} as const satisfies Partial<Launch>;

/** For tiers whose launcher is written in Perl. */
export async function findPerl(find: FindProgram): Promise<Programs | string> {
  if (seccompArchitecture() === undefined) return `there is no seccomp filter for ${process.arch}`;
  const perl = find("perl");
  return perl === undefined ? "Perl is not on PATH" : { perl };
}

/** The root as the working directory of a launcher, by its descriptor, so that it cannot be swapped. */
export const pinnedRoot = ({ root }: ProtectionPlan): string => `/proc/self/fd/${root.descriptor}`;
