/** The types that describe how strongly a command is confined. Nothing here looks at the machine. */

/** From strongest to weakest on Linux. `seatbelt` is the macOS tier. */
export type IsolationTier = "bwrap" | "unshare" | "landlock" | "seccomp" | "seatbelt" | "none";

/**
 * `require` needs a tier that confines everything. `auto` needs one that confines files and the network, and warns if
 * that is all. Both refuse otherwise. `off` runs without a sandbox.
 */
export type IsolationMode = "require" | "auto" | "off";

export interface IsolationDescription {
  readonly tier: IsolationTier;
  /** What the kernel enforces, even against a command that tries to get around it. */
  readonly enforces: {
    readonly network: boolean;
    readonly filesystem: boolean;
    readonly processes: boolean;
    readonly environment: boolean;
  };
  /** Why no stronger tier is used, or what this one leaves open. */
  readonly reason?: string;
  /** How to get a stronger tier. */
  readonly remedy?: string;
}

/** What `isolation: "require"` accepts. */
export function isFullIsolation({ tier, enforces }: IsolationDescription): boolean {
  return tier === "seatbelt" || Object.values(enforces).every(Boolean);
}

/** What `isolation: "auto"` accepts for a command: it can neither reach data outside nor send it away. */
export function isEnoughForCommands({ enforces }: IsolationDescription): boolean {
  return enforces.filesystem && enforces.network;
}
