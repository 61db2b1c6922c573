/**
 * What a tier is: how its programs are found, what it claims, and what it makes of a command. Each tier is a file of
 * its own, and the order in which they are tried is in `tiers.ts`.
 */
import type { BwrapFeatures } from "../isolation/bwrap-options.ts";
import type { Launch } from "../isolation/launch.ts";
import type { ProtectionPlan } from "../isolation/protection-plan.ts";
import { seccompArchitecture } from "../isolation/seccomp-filter.ts";
import type { IsolationDescription, IsolationTier } from "../isolation/tier.ts";

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

/** Absolute paths, none of them inside the sandbox root. */
export interface Programs {
  readonly bwrap?: string | undefined;
  readonly features?: BwrapFeatures | undefined;
  readonly perl?: string | undefined;
  readonly sandboxExec?: string | undefined;
}

/** Finds a trusted program by its name; undefined when there is none. */
export type FindProgram = (name: string) => string | undefined;

export interface Tier {
  readonly name: IsolationTier;
  /** What it claims, once a probe has tried to break each claim from inside. */
  readonly enforces: IsolationDescription["enforces"];
  /** Whether a command sees the host's files under their own paths, so that a missing program can be told before. */
  readonly showsHost: boolean;
  /** The programs that it needs, or in words why it cannot be used here. */
  find(find: FindProgram): Promise<Programs | string>;
  plan(programs: Programs, request: PlanRequest): Launch;
}

export function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("A tier was chosen whose programs were not found.");
  return value;
}

/** What most tiers leave out. */
export const LAUNCH = {
  filter: undefined,
  options: undefined,
  held: [],
  expected: undefined,
  reports: false,
  lifeline: false,
} as const satisfies Partial<Launch>;

/** For the tiers whose launcher is written in Perl. */
export async function findPerl(find: FindProgram): Promise<Programs | string> {
  if (seccompArchitecture() === undefined) return `there is no seccomp filter for ${process.arch}`;
  const perl = find("perl");
  return perl === undefined ? "Perl is not on PATH" : { perl };
}

/** The root as the working directory of a launcher: by its descriptor, so that nobody can swap it. */
export const pinnedRoot = ({ root }: ProtectionPlan): string => `/proc/self/fd/${root.descriptor}`;
