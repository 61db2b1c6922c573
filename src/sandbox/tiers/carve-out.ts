/**
 * Computes how Landlock can allow a folder that contains exceptions. A rule applies to everything below a folder, so
 * each folder on the way to an exception is opened entry by entry. This only builds lists; the launcher opens the
 * paths.
 */
import { basename, dirname } from "node:path";
import { isInside } from "../is-inside.ts";

export interface Exception {
  readonly path: string;
  /** The access that is still allowed. */
  readonly access: "" | "r";
}

export type Carving =
  | {
      readonly kind: "folder";
      readonly path: string;
      /** Names in the folder that its rule must not cover. If empty, the rule covers the whole folder. */
      readonly leftOut: readonly string[];
      /** Whether something below must not even be read. If so, the folder as a whole gets no read access. */
      readonly hides: boolean;
      /** Whether it is in an exception that is read-only. */
      readonly readOnly: boolean;
    }
  | { readonly kind: "exception"; readonly path: string; readonly access: "" | "r" };

export function carveOut(folder: string, exceptions: readonly Exception[]): Carving[] {
  const inside = exceptions.filter(({ path }) => path !== folder && isInside(path, folder));
  // An exception inside a stricter one adds nothing.
  const outermost = inside.filter(({ path, access }) => {
    return !inside.some(
      (other) => other.path !== path && isInside(path, other.path) && other.access <= access,
    );
  });
  const ways = new Map<string, { leftOut: Set<string>; hides: boolean }>();
  ways.set(folder, { leftOut: new Set(), hides: false });
  for (const { path, access } of outermost) {
    for (let child = path; child !== folder; child = dirname(child)) {
      const way = ways.get(dirname(child)) ?? { leftOut: new Set(), hides: false };
      ways.set(dirname(child), way);
      way.leftOut.add(basename(child));
      way.hides ||= access === "";
    }
  }
  return [
    ...[...ways].map(([path, { leftOut, hides }]) => {
      const readOnly = outermost.some((each) => each.access === "r" && isInside(path, each.path));
      return { kind: "folder", path, leftOut: [...leftOut], hides, readOnly } as const;
    }),
    ...outermost
      .filter(({ path }) => !ways.has(path))
      .map((each) => ({ kind: "exception", ...each }) as const),
  ];
}
