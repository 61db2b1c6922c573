/**
 * Module hooks for workflow files: `toolwright` resolves to this package, packages that the folder lacks are resolved from
 * the Toolwright installation, and TypeScript and JSX are compiled in memory. The hooks avoid `await`, so that they work
 * both as synchronous hooks and in a hooks thread.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compile } from "./compile.ts";
import { isOwnSource, OWN_FILE, ownExport, readManifest } from "./package-root.ts";

interface Context {
  readonly parentURL?: string | undefined;
}

type Next<Result> = (specifier: string, context?: Context) => Result;

const manifest = readManifest();

export function resolve<Result>(specifier: string, context: Context, next: Next<Result>): Result {
  if (specifier === "toolwright" || specifier.startsWith("toolwright/")) {
    const url = ownExport(manifest, specifier);
    if (url !== undefined) return next(url, context);
  }
  return orElse(
    () => next(specifier, context),
    () => {
      if (isBare(specifier)) return next(specifier, { ...context, parentURL: OWN_FILE });
      return next(withExtension(specifier, context.parentURL) ?? specifier, context);
    },
  );
}

interface LoadContext {
  readonly format?: string | null | undefined;
}

interface Loaded {
  readonly format: string;
  readonly source: string;
  readonly shortCircuit: boolean;
}

/** Marks the entry file of a command: its JavaScript may contain JSX under any extension. */
export const ENTRY = "toolwright-entry";

export function load<Result>(
  url: string,
  context: LoadContext,
  next: (url: string, context: LoadContext) => Result,
): Result | Loaded {
  const { protocol, pathname, searchParams } = new URL(url);
  const isEntry = searchParams.has(ENTRY);
  const isCompiled = /\.(?:m?ts|tsx|jsx)$/.test(pathname) || (isEntry && /\.m?js$/.test(pathname));
  if (protocol !== "file:" || !isCompiled || isOwnSource(url)) return next(url, context);
  const file = fileURLToPath(url);
  return { format: "module", source: compile(file, readFileSync(file, "utf8")), shortCircuit: true };
}

/** Tries the second way if the first finds nothing. If both fail, throws the error of the first. */
function orElse<Result>(first: () => Result, second: () => Result): Result {
  return recover(first, (error) => {
    if (!isNotFound(error)) throw error;
    return recover(second, () => {
      throw error;
    });
  });
}

/** Passes an error of `action` to `onError`, whether it throws or rejects. */
function recover<Result>(action: () => Result, onError: (error: unknown) => Result): Result {
  try {
    const result = action();
    return result instanceof Promise ? (result.catch(onError) as Result) : result;
  } catch (error) {
    return onError(error);
  }
}

function isNotFound(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return (
    code === "ERR_MODULE_NOT_FOUND" || code === "ERR_UNSUPPORTED_DIR_IMPORT" || code === "MODULE_NOT_FOUND"
  );
}

function isBare(specifier: string): boolean {
  return !/^(?:\.{0,2}\/|[a-z]+:|#)/.test(specifier);
}

/** TypeScript conventions: `./tool.js` may mean tool.ts, and `./tool` may mean either. */
function withExtension(specifier: string, parentURL: string | undefined): string | undefined {
  if (parentURL === undefined || !specifier.startsWith(".")) return undefined;
  const base = specifier.replace(/\.[mc]?jsx?$/, "");
  const endings = [".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", "/index.ts", "/index.tsx", "/index.js"];
  return endings
    .map((ending) => new URL(base + ending, parentURL))
    .find((url) => url.protocol === "file:" && existsSync(url))?.href;
}
