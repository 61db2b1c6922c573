/**
 * One command, ready to be spawned, as a tier prepared it. Defines only the shape: the tiers fill it and
 * `run-process` runs it.
 */
import type { IsolationTier } from "./isolation-tier.ts";
import type { ExpectedMounts } from "./verify-mounts.ts";

/** The descriptors beyond the standard three. Every tier uses the same numbers. */
export const FILTER_DESCRIPTOR = 3;
export const STATUS_DESCRIPTOR = 4;
export const OPTIONS_DESCRIPTOR = 5;
/** The command waits until a byte arrives here. */
export const GATE_DESCRIPTOR = 6;
/** The first of the descriptors that are passed unchanged. */
export const FIRST_HELD_DESCRIPTOR = 7;

export interface Launch {
  readonly tier: IsolationTier;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Written to the filter's descriptor. */
  readonly filter: Uint8Array | undefined;
  /** Written to the options descriptor: bubblewrap's options, or the launcher's plan. */
  readonly options: Uint8Array | undefined;
  /** Descriptors of this process that the sandbox binds, from FIRST_HELD_DESCRIPTOR on. */
  readonly held: readonly number[];
  /**
   * The mounts that have to exist before the command may start. It waits at the gate until they have been checked.
   */
  readonly expected: ExpectedMounts | undefined;
  /** Whether the launch reports on the status descriptor. */
  readonly reports: boolean;
  /** Whether the filter's descriptor is a pipe that stays open instead. It closes when the agent ends. */
  readonly lifeline: boolean;
  /**
   * How to end everything that the command started. A PID namespace ends with its first process. A supervisor ends it
   * once its descriptor closes. A plain process has only its group and its descendants.
   */
  readonly kill: "namespace" | "supervisor" | "group";
  /** Removes what the tier created for this command on the host. */
  readonly onEnd?: () => void;
}
