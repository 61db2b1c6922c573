/**
 * Resolves the folder or file that a process works on, with the same walk as the file tools, and holds the folder by
 * a descriptor. The caller closes it. Nothing here reads content.
 */
import { closeSync, lstatSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import { checkRoot } from "../files/check-root.ts";
import { LINK } from "../files/open-folder.ts";
import { parsePath } from "../files/parse-path.ts";
import { strategyFor, type Directory } from "../files/path-strategy.ts";
import { walk } from "../files/walk.ts";
import { isInside } from "../is-inside.ts";

export interface ResolvedLocation {
  /** Both spellings of the root: as given and real. */
  readonly roots: readonly [string, string];
  readonly realRoot: string;
  readonly realPath: string;
  readonly isFolder: boolean;
  /**
   * The folder, or the root if the path is a file, by descriptor, so that it cannot be swapped. Undefined where the
   * platform has no such paths.
   */
  readonly pinned: string | undefined;
  close(): void;
}

export function resolveInside(rootDir: string, path: string | undefined): ResolvedLocation {
  const realRoot = checkRoot(rootDir);
  const given = resolve(rootDir);
  const wanted = path === undefined || path === "" ? "." : path;
  const { parts, shown } = parsePath(wanted, { given, real: realRoot });
  const names = parts.filter((part) => part !== ".");
  const found: Found =
    names.length === 0 ? { realPath: realRoot, kind: "folder" } : find(rootDir, realRoot, names);
  if (found.kind === "other") {
    throw refuse("TOOL_NOT_A_FILE", `The path is neither a regular file nor a folder: ${shown}.`);
  }
  if (found.kind === "file" && parts.at(-1) === ".")
    throw refuse("TOOL_NOT_A_DIRECTORY", `Not a folder: ${shown}.`);
  const held =
    found.held ??
    strategyFor(process.platform).openRoot(found.kind === "file" ? realRoot : found.realPath).directory;
  return {
    roots: [given, realRoot],
    realRoot,
    realPath: found.realPath,
    isFolder: found.kind === "folder",
    pinned: process.platform === "linux" ? held.base : undefined,
    close: () => closeSync(held.descriptor),
  };
}

interface Found {
  readonly realPath: string;
  readonly kind: "folder" | "file" | "other";
  readonly held?: Directory;
}

function find(rootDir: string, realRoot: string, names: readonly string[]): Found {
  try {
    const walked = walk<Omit<Found, "realPath">>({
      rootDir,
      path: names.join("/"),
      leaf(folder, name, strategy) {
        const stat = lstatSync(`${folder.base}/${name}`);
        if (stat.isSymbolicLink()) return LINK;
        if (stat.isDirectory()) return { kind: "folder", held: strategy.openChild(folder, name) };
        return { kind: stat.isFile() ? "file" : "other" };
      },
    });
    walked.close();
    return { realPath: walked.realPath, ...walked.leaf };
  } catch (error) {
    // A link may lead to the root itself, or the path may end in a slash. The walk to a file stops in both cases.
    if (!ToolwrightError.is(error) || error.code !== "TOOL_NOT_A_FILE") throw error;
    const realPath = realpathSync(resolve(realRoot, ...names));
    if (!isInside(realPath, realRoot) || !lstatSync(realPath).isDirectory()) throw error;
    return { realPath, kind: "folder" };
  }
}

function refuse(code: "TOOL_NOT_A_FILE" | "TOOL_NOT_A_DIRECTORY", message: string): ToolwrightError {
  return new ToolwrightError(code, message, { effect: "none" });
}
