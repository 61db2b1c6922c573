/**
 * Several copies of this package may be loaded in one process: an npm alias beside the real name, or a dependency that
 * brings its own. Copies of one version share what has to be shared and use each other's objects. Copies of different
 * versions refuse to: what one of them does not understand of the other would otherwise be lost without an error.
 */
import { fileURLToPath } from "node:url";
import { ToolwrightError } from "../errors.ts";

/** The version in package.json; a test compares the two. Written here since a bundle has no package.json beside it. */
const VERSION = "0.1.0";

export interface PackageCopy {
  readonly version: string;
  /** Where it was loaded from. */
  readonly path: string;
  /** How its pipeline is entered, for calls that another copy makes inside its runs. Set when it is loaded. */
  entry?: unknown;
}

export const OWN_COPY: PackageCopy = { version: VERSION, path: pathOf(import.meta.url) };

/** Which copy made an object that another one may be given. */
export const MADE_BY = Symbol.for("toolwright.copy");

/**
 * State that all copies in this process have in common. The name carries the format of what is stored, so that a later
 * version with another format has state of its own.
 */
export function sharedByCopies<T>(name: string, create: () => T): T {
  const holder = globalThis as { [name: symbol]: unknown };
  const key = Symbol.for(`toolwright.shared.${name}`);
  holder[key] ??= create();
  return holder[key] as T;
}

export function isSameVersion(copy: PackageCopy | undefined): boolean {
  return copy === OWN_COPY || copy?.version === VERSION;
}

/**
 * @param copy `undefined` for what a version made that did not say so yet
 * @throws TOOL_PACKAGE_CONFLICT
 */
export function assertSameVersion(copy: PackageCopy | undefined, what: string): void {
  if (!isSameVersion(copy)) throw packageConflict(copy, what);
}

export function packageConflict(copy: PackageCopy | undefined, what: string): ToolwrightError {
  const other = copy === undefined ? "an earlier version" : `version ${copy.version} (${copy.path})`;
  return new ToolwrightError(
    "TOOL_PACKAGE_CONFLICT",
    `${what} comes from ${other} of Toolwright, and this is version ${VERSION} (${OWN_COPY.path}). ` +
      "Two versions in one process cannot work together.",
    { details: { other: copy?.version ?? null, own: VERSION }, effect: "none" },
  );
}

function pathOf(url: string): string {
  const root = new URL("../../", url);
  return root.protocol === "file:" ? fileURLToPath(root) : root.href;
}
