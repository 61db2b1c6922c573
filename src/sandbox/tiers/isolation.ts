/**
 * Decides which tier a command runs in. It must never weaken a sandbox silently. `require` fails closed. `auto`
 * refuses commands if files or the network cannot be confined. If less is left open, it warns on standard error, once
 * per process.
 */
import { ToolwrightError } from "../../errors.ts";
import { cleanPath } from "./clean-environment.ts";
import {
  detectIsolation,
  findPrograms,
  unconfined,
  type Detected,
  type FoundPrograms,
} from "./detect-isolation.ts";
import {
  isEnoughForCommands,
  isFullIsolation,
  type IsolationDescription,
  type IsolationMode,
} from "./isolation-tier.ts";
import type { Tier } from "./tier.ts";

export interface Isolation {
  describe(): Promise<IsolationDescription>;
  /** `roots` holds the spellings of the sandbox root. */
  choose(mode: IsolationMode, roots: readonly string[], use?: Use): Promise<Detected>;
}

/** A command of the agent, or one of our programs for which the agent chose only the arguments. */
export type Use = "command" | "ownProgram";

export interface IsolationHost {
  readonly path: () => string | undefined;
  readonly warn: (text: string) => void;
  /** For tests. Defaults to the tiers of this operating system. */
  readonly tiers?: readonly Tier[];
}

/** Caches what it detects about the machine, per PATH and root, for the lifetime of the object. */
export function createIsolation(host: IsolationHost): Isolation {
  const probed = new Map<string, Promise<Detected>>();
  const found = new Map<string, FoundPrograms>();
  let hasWarned = false;

  const detect = (roots: readonly string[]): Promise<Detected> => {
    const path = cleanPath(host.path(), roots);
    const programs = remember(found, JSON.stringify([path, ...roots]), () => findPrograms(path, roots));
    return remember(probed, JSON.stringify(programs), () => detectIsolation(programs, host.tiers));
  };

  return {
    async describe() {
      return (await detect([])).description;
    },
    async choose(mode, roots, use = "command") {
      if (mode === "off") return unconfined;
      const detected = await detect(roots);
      const { description } = detected;
      if (isFullIsolation(description)) return detected;
      if (mode === "require")
        throw unavailable(description, "The sandbox is required and cannot be set up here.");
      if (use === "command" && !isEnoughForCommands(description)) throw unconfinable(description);
      if (!hasWarned) host.warn(warning(description));
      hasWarned = true;
      return detected;
    },
  };
}

/** One for the process: a probe takes milliseconds, and the warning is printed once. */
export const processIsolation: Isolation = createIsolation({
  path: () => process.env["PATH"],
  warn: (text) => void process.stderr.write(text),
});

/**
 * Which sandbox commands get on this machine, found by starting it.
 *
 * @example
 * const { tier, enforces, remedy } = await describeIsolation();
 */
export function describeIsolation(): Promise<IsolationDescription> {
  return processIsolation.describe();
}

function remember<T>(known: Map<string, T>, key: string, find: () => T): T {
  const value = known.get(key) ?? find();
  known.set(key, value);
  return value;
}

function unconfinable(description: IsolationDescription): ToolwrightError {
  const open = openParts(description).filter((part) => part === "filesystem" || part === "network");
  const message = `Commands cannot be confined here, so no command runs (tier ${description.tier}; open: ${open.join(", ")}).`;
  return unavailable(description, message, ` To run commands without a sandbox, set isolation: "off".`);
}

function unavailable(
  { tier, reason = "", remedy = "" }: IsolationDescription,
  what: string,
  wayOut = "",
): ToolwrightError {
  return new ToolwrightError("TOOL_SANDBOX_UNAVAILABLE", `${what} ${reason}`.trim(), {
    details: { tier },
    hint: `${remedy}${wayOut}`.trim(),
    effect: "none",
  });
}

function openParts({ enforces }: IsolationDescription): string[] {
  return Object.entries(enforces).flatMap(([what, isEnforced]) => (isEnforced ? [] : [what]));
}

function warning(description: IsolationDescription): string {
  const { tier, reason = "", remedy = "" } = description;
  const rule = "!".repeat(78);
  return [
    "",
    rule,
    `toolwright: WARNING: commands run in a weaker sandbox (${tier}). Not enforced: ${openParts(description).join(", ")}.`,
    `  Why: ${reason}`,
    `  Remedy: ${remedy}`,
    `  To refuse instead, set isolation: "require".`,
    rule,
    "",
  ].join("\n");
}
