/**
 * Decides under which tier a command runs. It must never weaken a sandbox in silence: `require` fails closed, `auto`
 * warns on standard error, once per process and loudly.
 */
import { ToolwrightError } from "../../errors.ts";
import { cleanPath } from "./clean-environment.ts";
import { detectIsolation, findPrograms, type Detected, type Programs } from "./detect-isolation.ts";
import { isFullIsolation, type IsolationDescription, type IsolationMode } from "./tier.ts";

export interface Isolation {
  describe(): Promise<IsolationDescription>;
  /** Undefined means: run plainly. `roots` are the spellings of the sandbox root. */
  choose(mode: IsolationMode, roots: readonly string[]): Promise<Detected | undefined>;
}

export interface IsolationHost {
  readonly path: () => string | undefined;
  readonly warn: (text: string) => void;
}

/** What is known of the machine is kept for as long as the object lives, for each PATH and root. */
export function createIsolation(host: IsolationHost): Isolation {
  const probed = new Map<string, Promise<Detected>>();
  const found = new Map<string, Programs>();
  let hasWarned = false;

  const detect = (roots: readonly string[]): Promise<Detected> => {
    const path = cleanPath(host.path(), roots);
    const programs = remember(found, JSON.stringify([path, ...roots]), () => findPrograms(path, roots));
    return remember(probed, JSON.stringify(programs), () => detectIsolation(programs));
  };

  return {
    async describe() {
      return (await detect([])).description;
    },
    async choose(mode, roots) {
      if (mode === "off") return undefined;
      const detected = await detect(roots);
      const { description } = detected;
      if (isFullIsolation(description.tier)) return detected;
      if (mode === "require") throw unavailable(description);
      if (!hasWarned) host.warn(warning(description));
      hasWarned = true;
      return detected;
    },
  };
}

/** One for the process: a probe costs milliseconds, and the warning is given once. */
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

function unavailable({ reason = "", remedy = "" }: IsolationDescription): ToolwrightError {
  const message = `The sandbox is required and cannot be set up here. ${reason}`;
  return new ToolwrightError("TOOL_SANDBOX_UNAVAILABLE", message.trim(), { hint: remedy, effect: "none" });
}

function warning({ tier, enforces, reason = "", remedy = "" }: IsolationDescription): string {
  const open = Object.entries(enforces).flatMap(([what, enforced]) => (enforced ? [] : [what]));
  const rule = "!".repeat(78);
  return [
    "",
    rule,
    `toolwright: WARNING: commands run in a weaker sandbox (${tier}). Not enforced: ${open.join(", ")}.`,
    `  Why: ${reason}`,
    `  Remedy: ${remedy}`,
    `  To refuse instead, set isolation: "require".`,
    rule,
    "",
  ].join("\n");
}
