/** The tiers of each operating system, strongest first. `none`, the fallback, always works and claims nothing. */
import { bwrap } from "./bwrap.ts";
import { landlock } from "./landlock.ts";
import { none } from "./none.ts";
import { seatbelt } from "./seatbelt.ts";
import { seccomp } from "./seccomp.ts";
import type { Tier } from "./tier.ts";
import { unshare } from "./unshare.ts";

export function tiersFor(platform: NodeJS.Platform): readonly Tier[] {
  if (platform === "linux") return [bwrap, unshare, landlock, seccomp];
  return platform === "darwin" ? [seatbelt] : [];
}

export { none };
