/** Imports a file of the user, and turns a failure into an error with one sentence and a hint. */
import { dirname, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../invoke/error-record.ts";
import { addCodePath } from "../load/code-paths.ts";
import { isReactJsxError, REACT_JSX_HINT } from "../workflow/react-jsx-error.ts";
import { CliError } from "./cli-error.ts";
import { ENTRY } from "../load/hooks.ts";

/** @throws CliError */
export async function importFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  await import("../load/register.ts");
  // The file runs in this process, and again in each process that resumes the run, so no tool may change it.
  addCodePath(file);
  const url = pathToFileURL(file);
  // Only for JavaScript: with the marker, a file that imports this one back would get a second copy of it.
  if (/\.m?js$/.test(file)) url.searchParams.set(ENTRY, "");
  try {
    return (await import(url.href)) as Record<string, unknown>;
  } catch (error) {
    throw asLoadError(file, error);
  }
}

function asLoadError(file: string, error: unknown): CliError {
  const message = messageOf(error);
  const compiler = /^(.+):(\d+):(\d+): ERROR: (.+)$/m.exec(message);
  const loadError = compiler === null ? thrown(file, error, message) : uncompiled(compiler);
  return Object.assign(loadError, {
    cause: error,
    stack: error instanceof Error ? error.stack : loadError.stack,
  });
}

function uncompiled([, at = "", line = "", column = "", words = ""]: readonly string[]): CliError {
  return new CliError(
    "CLI_FILE_INVALID",
    `${shown(at)}:${line}:${Number(column) + 1} does not compile: ${words}`,
    "Fix the line, then try again.",
  );
}

function thrown(file: string, error: unknown, message: string): CliError {
  if (isReactJsxError(error))
    return new CliError(
      "CLI_FILE_THREW",
      `${shown(file)} could not be loaded: ${firstLine(message)}`,
      REACT_JSX_HINT,
    );
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
    const missing = /'([^']+)'/.exec(message)?.[1] ?? "something";
    const isPackage = /Cannot find package/.test(message);
    return new CliError(
      "CLI_IMPORT_MISSING",
      `${shown(file)} needs ${isPackage ? `the package "${missing}"` : shown(missing)}, which cannot be found.`,
      isPackage ? `Install it with: npm install ${missing}` : "Fix the import, then try again.",
    );
  }
  return new CliError(
    "CLI_FILE_THREW",
    `${shown(file)} could not be loaded: ${firstLine(message)}`,
    `It was thrown ${locationOf(error)}while the file was imported. --debug shows the stack.`,
  );
}

function firstLine(message: string): string {
  return message.replace(/\s*\n[^]*$/, "");
}

/** The first location in the user's own files: not in a package, and not in this one. */
function locationOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  // The first line of a SyntaxError has no column. Frames of Node itself (node:internal/…) are not locations.
  const locations = [
    ...stack.matchAll(/(?:^|file:\/\/|\(|at )(\/[^\s()?]+?)(?:\?[^:\s]*)?:(\d+)(?::\d+)?\)?\s*$/gm),
  ];
  const ours = dirname(import.meta.dirname);
  const location =
    locations.find(([, path = ""]) => !path.includes("/node_modules/") && !path.startsWith(`${ours}/`)) ??
    locations[0];
  return location === undefined ? "" : `at ${shown(location[1] ?? "")}:${location[2]} `;
}

export function shown(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith("..") ? file : path;
}
