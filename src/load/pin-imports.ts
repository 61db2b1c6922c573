/**
 * Checks every import after the first tool: Toolwright and the packages that it depends on load only files that existed
 * out of reach of the tools. Node searches the nearest `node_modules` first, and a tool can create one there.
 */
import { realpathSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";

export interface Pins {
  /** The folders whose files are checked when they import something. */
  readonly importers: readonly string[];
  /** The folders that those files may load from. */
  readonly known: readonly string[];
  /** The folder of the started program, and where it found Toolwright. */
  readonly program: string | undefined;
  readonly own: readonly string[];
  readonly refuse: (specifier: string) => Error;
}

/** Node before 22.15 has no such hooks. There, only optional peers are checked, by `importPeer`. */
export function pinImports(pins: Pins): void {
  const { registerHooks }: Partial<Pick<typeof nodeModule, "registerHooks">> = nodeModule;
  registerHooks?.({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      // The result is checked, not the search before it: the folders may change in between.
      if (!mayLoad(pins, specifier, fileOf(context.parentURL), fileOf(resolved.url)))
        throw pins.refuse(specifier);
      return resolved;
    },
  });
}

function mayLoad(
  pins: Pins,
  specifier: string,
  parent: string | undefined,
  file: string | undefined,
): boolean {
  if (parent === undefined || file === undefined) return true;
  if (isPartOf(parent, pins.importers)) return isPartOf(file, pins.known);
  const isOwn = specifier === "toolwright" || specifier.startsWith("toolwright/");
  if (!isOwn || pins.program === undefined || !isPartOf(parent, [pins.program])) return true;
  return isPartOf(file, pins.own);
}

/** Packages in a `node_modules` below a folder are not part of it. */
function isPartOf(file: string, folders: readonly string[]): boolean {
  return folders.some(
    (folder) => file.startsWith(`${folder}/`) && !file.slice(folder.length).includes("/node_modules/"),
  );
}

/** The real file. `undefined` for modules that are not files, such as Node's own. */
function fileOf(url: string | undefined): string | undefined {
  if (url?.startsWith("file:") !== true) return undefined;
  const path = fileURLToPath(url);
  try {
    return realpathSync(path);
  } catch {
    return path; // It does not exist, and Node reports the error.
  }
}
