/**
 * The words for how strongly a command is confined. Only words: nothing here looks at the machine.
 */

/** From strongest to weakest on Linux; `seatbelt` is what macOS has. */
export type IsolationTier = "bwrap" | "unshare" | "landlock" | "seccomp" | "seatbelt" | "none";

/**
 * `require` takes a tier that confines everything, `auto` one that confines files and the network, and warns when that is
 * all; both refuse otherwise. `off` runs plainly.
 */
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

/** What `isolation: "require"` accepts. */
export function isFullIsolation({ tier, enforces }: IsolationDescription): boolean {
  return tier === "seatbelt" || Object.values(enforces).every(Boolean);
}

/** What `isolation: "auto"` accepts for a command: it can neither reach what is outside nor send it away. */
export function isEnoughForCommands({ enforces }: IsolationDescription): boolean {
  return enforces.filesystem && enforces.network;
}
