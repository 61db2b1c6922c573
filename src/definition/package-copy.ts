/**
 * Several copies of this package may be loaded in one process: under an npm alias, or by a dependency with its own copy.
 * Copies of one version share state and use each other's objects. Copies of different versions refuse to work together:
 * data that one of them does not understand would be lost without an error.
 */
import { fileURLToPath } from "node:url";
import { ToolwrightError } from "../errors.ts";

/** The version in package.json; a test compares the two. A constant, since a bundle has no package.json. */
const VERSION = "0.1.0";

export interface PackageCopy {
  readonly version: string;
  /** The folder or URL that it was loaded from. */
  readonly path: string;
  /** The entry to its pipeline, for calls that another copy makes inside its runs. Set on load. */
  entry?: unknown;
}

export const OWN_COPY: PackageCopy = { version: VERSION, path: pathOf(import.meta.url) };

/** The copy of the package that created an object. */
export const MADE_BY = Symbol.for("toolwright.copy");

/**
 * State that all copies in this process share. The name includes the version of its format, so that a later version with
 * another format has separate state.
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
 * @param copy `undefined` for objects of versions that did not set MADE_BY
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
