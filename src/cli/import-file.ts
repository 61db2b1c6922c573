/** Imports a file of the user's, and says in one sentence why that cannot be done. */
import { dirname, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../invoke/error-record.ts";
import { addCodePath } from "../sandbox/files/code-folders.ts";
import { isJsxOfReact, JSX_HINT } from "../workflow/jsx-of-react.ts";
import { CliError } from "./cli-error.ts";
import { ENTRY } from "../load/hooks.ts";

/** @throws CliError */
export async function importFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  await import("../load/register.ts");
  // It runs in this process, and again in the next one that resumes: no tool may change it.
  addCodePath(file);
  const url = pathToFileURL(file);
  // Only where it is needed: a file that imports the workflow back would get a second copy of it.
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
  const made = compiler === null ? thrown(file, error, message) : uncompiled(compiler);
  return Object.assign(made, { cause: error, stack: error instanceof Error ? error.stack : made.stack });
}

function uncompiled([, at = "", line = "", column = "", words = ""]: readonly string[]): CliError {
  return new CliError(
    "CLI_FILE_INVALID",
    `${shown(at)}:${line}:${Number(column) + 1} does not compile: ${words}`,
    "Correct the line, then try again.",
  );
}

function thrown(file: string, error: unknown, message: string): CliError {
  if (isJsxOfReact(error))
    return new CliError(
      "CLI_FILE_THREW",
      `${shown(file)} could not be loaded: ${firstLine(message)}`,
      JSX_HINT,
    );
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
    const missing = /'([^']+)'/.exec(message)?.[1] ?? "something";
    const isPackage = /Cannot find package/.test(message);
    return new CliError(
      "CLI_IMPORT_MISSING",
      `${shown(file)} needs ${isPackage ? `the package "${missing}"` : shown(missing)}, which is not there.`,
      isPackage ? `Install it with: npm install ${missing}` : "Correct the import, then try again.",
    );
  }
  return new CliError(
    "CLI_FILE_THREW",
    `${shown(file)} could not be loaded: ${firstLine(message)}`,
    `It was thrown ${placeOf(error)}while the file was imported. --debug shows the stack.`,
  );
}

function firstLine(message: string): string {
  return message.replace(/\s*\n[^]*$/, "");
}

/** Where in the author's files it was thrown; what is in packages, such as this one, is not theirs. */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const places = [...stack.matchAll(/(?:file:\/\/|\()?(\/[^\s()?]+?)(?:\?[^:\s]*)?:(\d+):(\d+)\)?\s*$/gm)];
  const ours = dirname(import.meta.dirname);
  const place =
    places.find(([, path = ""]) => !path.includes("/node_modules/") && !path.startsWith(`${ours}/`)) ??
    places[0];
  return place === undefined ? "" : `at ${shown(place[1] ?? "")}:${place[2]} `;
}

export function shown(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith("..") ? file : path;
}
