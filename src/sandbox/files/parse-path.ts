/**
 * Turns the path that a model wrote into names below the root, by its spelling alone. It must never touch the disk
 * and must never expand anything: `~`, `$HOME` and `%2e` are plain names.
 */
import { resolve } from "node:path";
import { fileError, showPath } from "./file-error.ts";

export interface RootPaths {
  /** As the caller gave it, made absolute. */
  readonly given: string;
  readonly real: string;
}

export interface ParsedPath {
  /** Names to walk. A last name of `.` means that the path has to be a folder. */
  readonly parts: string[];
  /** The path below the root, with `.` and `..` collapsed. */
  readonly relativePath: string;
  /** The same for messages, quoted. */
  readonly shown: string;
}

/** PATH_MAX and NAME_MAX of Linux, without the terminating NUL. */
const MAX_PATH_BYTES = 4095;
const MAX_NAME_BYTES = 255;

export function parsePath(path: unknown, root: RootPaths): ParsedPath {
  const text = checkSpelling(path);
  const relativePath = relativeToRoot(resolve(root.given, text), root);
  if (relativePath === undefined) throw escapes(text);
  const parts = relativePath === "" ? [] : relativePath.split("/");
  if (parts.length === 0 || folderEnding(text)) parts.push(".");
  return { parts, relativePath, shown: showPath(relativePath === "" ? "." : relativePath) };
}

/** The part of an absolute path below either spelling of the root, or undefined if the path is outside. */
export function relativeToRoot(path: string, root: RootPaths): string | undefined {
  return below(path, root.given) ?? below(path, root.real);
}

export function escapes(path: string): Error {
  return fileError("TOOL_PATH_ESCAPE", `The path leads out of the sandbox root: ${showPath(path)}.`);
}

/** Whether the path is spelled as a folder: it ends in `/`, `.` or `..`. */
export function folderEnding(path: string): boolean {
  return /(?:^|\/)\.{0,2}$/.test(path);
}

function below(path: string, root: string): string | undefined {
  if (path === root) return "";
  return path.startsWith(root) && path[root.length] === "/" ? path.slice(root.length + 1) : undefined;
}

function checkSpelling(path: unknown): string {
  if (typeof path !== "string") {
    throw fileError("TOOL_INPUT_INVALID", `The path must be a string; it is ${typeof path}.`);
  }
  if (path === "") throw fileError("TOOL_PATH_INVALID", "The path is empty.");
  if (path.includes("\0")) throw invalid(path, "contains a NUL character");
  if (!path.isWellFormed()) throw invalid(path, "contains a lone surrogate");
  // A UTF-16 unit takes at most three bytes, so short paths need no counting.
  if (path.length * 3 > MAX_NAME_BYTES) {
    if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw invalid(path, `is over ${MAX_PATH_BYTES} bytes long`);
    for (const name of path.split("/")) {
      if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
        throw invalid(path, `contains a name longer than ${MAX_NAME_BYTES} bytes`);
      }
    }
  }
  return path;
}

function invalid(path: string, why: string): Error {
  return fileError("TOOL_PATH_INVALID", `The path ${why}: ${showPath(path)}.`);
}
