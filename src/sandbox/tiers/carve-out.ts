/**
 * How a folder is allowed by Landlock when something in it is not to be: a rule holds for everything below, so each folder
 * on the way to an exception is opened entry by entry. Only lists are made here; the launcher opens what they name.
 */
import { basename, dirname } from "node:path";
import { isInside } from "../isolation/is-inside.ts";

export interface Exception {
  readonly path: string;
  /** What is allowed all the same. */
  readonly access: "" | "r";
}

export type Carving =
  | {
      readonly kind: "folder";
      readonly path: string;
      /** Names in it that its rule must not reach; when there are none, the rule is for all of it. */
      readonly leftOut: readonly string[];
      /** Whether something below may not even be read: then no right to read is given for the folder as a whole. */
      readonly hides: boolean;
      /** Whether it lies in an exception that may be read only. */
      readonly readOnly: boolean;
    }
  | { readonly kind: "exception"; readonly path: string; readonly access: "" | "r" };

export function carveOut(folder: string, exceptions: readonly Exception[]): Carving[] {
  const inside = exceptions.filter(({ path }) => path !== folder && isInside(path, folder));
  // An exception within another that is stricter says nothing more.
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
