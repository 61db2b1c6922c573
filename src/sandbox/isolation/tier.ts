/**
 * The words for how strongly a command is confined. Only words: nothing here looks at the machine.
 */

/** From strongest to weakest on Linux; `seatbelt` is what macOS has. */
export type IsolationTier = "bwrap" | "unshare" | "seccomp" | "seatbelt" | "none";

/** `require` fails closed, `auto` takes the best there is and warns, `off` runs plainly. */
export type IsolationMode = "require" | "auto" | "off";

export interface IsolationDescription {
  readonly tier: IsolationTier;
  /** What the kernel enforces on a command, against a command that tries to get around it. */
  readonly enforces: {
    readonly network: boolean;
    readonly filesystem: boolean;
    readonly processes: boolean;
    readonly environment: boolean;
  };
  /** Why the tier is not a stronger one, or what it leaves open. */
  readonly reason?: string;
  /** What to do about it. */
  readonly remedy?: string;
}

/** The tiers that `isolation: "require"` accepts. */
export function isFullIsolation(tier: IsolationTier): boolean {
  return tier === "bwrap" || tier === "seatbelt";
}
