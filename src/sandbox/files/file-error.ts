/**
 * Maps errors of the operating system to error codes and messages. It must never show the path of the system call,
 * which contains a descriptor of this process and means nothing to a model.
 */
import { ToolwrightError, type ErrorCode, type ToolwrightErrorOptions } from "../../errors.ts";

/** A refusal before any change, as `effect: "none"` tells the log. */
export function fileError(
  code: ErrorCode,
  message: string,
  options: ToolwrightErrorOptions = {},
): ToolwrightError {
  return new ToolwrightError(code, message, { effect: "none", ...options });
}

/** Converts an error of `node:fs` to one of our codes. `shown` is the path as formatted by `showPath`. */
export function toFileError(error: unknown, shown: string): unknown {
  if (ToolwrightError.is(error)) return error;
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const [code, words, retryable] = WORDS[errno] ?? OTHER;
  // No `cause`: its message contains the descriptor's path.
  return fileError(code, `${words}: ${shown}.`, { details: { errno }, retryable });
}

export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Quotes and escapes a path, which may contain line breaks, and truncates it, because it may fill a page. */
export function showPath(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}

type Words = readonly [code: ErrorCode, words: string, retryable?: boolean];

const OTHER: Words = ["TOOL_EXECUTION_FAILED", "The operating system failed on the path"];
const DENIED: Words = ["TOOL_PERMISSION_DENIED", "Permission denied"];
const NOT_A_FILE: Words = ["TOOL_NOT_A_FILE", "Not a regular file"];
const INVALID: Words = ["TOOL_PATH_INVALID", "The path contains a name that the file system does not accept"];
const DISK_FULL: Words = ["TOOL_DISK_FULL", "The disk is full, nothing was written"];
const TOO_MANY_OPEN: Words = ["TOOL_EXECUTION_FAILED", "Too many files are open in this process", true];

const WORDS: Readonly<Record<string, Words>> = {
  ENOENT: ["TOOL_FILE_NOT_FOUND", "File not found"],
  ENOTDIR: ["TOOL_NOT_A_DIRECTORY", "A part of the path is not a folder"],
  EISDIR: ["TOOL_NOT_A_FILE", "The path is a folder, not a regular file"],
  ENXIO: NOT_A_FILE,
  ENODEV: NOT_A_FILE,
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: ["TOOL_PERMISSION_DENIED", "The file system is read-only"],
  ENOSPC: DISK_FULL,
  EDQUOT: DISK_FULL,
  EFBIG: ["TOOL_CONTENT_TOO_LARGE", "Content too large for the file system"],
  ENAMETOOLONG: INVALID,
  EILSEQ: INVALID,
  EINVAL: INVALID,
  // Only a link that appeared after the walk had passed leads here.
  ELOOP: ["TOOL_PATH_ESCAPE", "A link took the place of a part of the path"],
  EMFILE: TOO_MANY_OPEN,
  ENFILE: TOO_MANY_OPEN,
};
