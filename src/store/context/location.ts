/** Restricts a query to one drive or all, at a path and below it. Queries name the items `i`. */
import type { SqlValue } from "../statement.ts";

export interface ItemLocation {
  /** `undefined`: in every drive. */
  readonly drive: string | undefined;
  /** `/` for all items. */
  readonly path: string;
  /** Excludes items below the path. */
  readonly only?: boolean;
}

/** The condition for items in the location; its four parameters start at this number. */
export function inLocation(parameter: number): string {
  const [drive, path, from, to] = [0, 1, 2, 3].map((step) => `?${parameter + step}`);
  return `(CAST(${drive} AS TEXT) IS NULL OR i.drive = ${drive})
    AND (i.path = ${path} OR (i.path >= ${from} AND i.path < ${to}))`;
}

export function locationParameters({ drive, path, only = false }: ItemLocation): SqlValue[] {
  return [drive ?? null, path, ...(only ? ["", ""] : below(path))];
}

/** Everything below a folder sorts between these two: "0" is the character after "/". */
export function below(path: string): [from: string, to: string] {
  const folder = path === "/" ? "" : path;
  return [`${folder}/`, `${folder}0`];
}
