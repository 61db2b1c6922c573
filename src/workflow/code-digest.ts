/**
 * A digest of the code of a workflow: its file and what that imports from local files. Paths count relative to the file, so
 * that the same code has the same digest on every machine. Packages do not count, nor do imports through path aliases.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { sha256 } from "../util/hash.ts";

const IMPORT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'](\.[^"'\n]*)["']/g;
const ENDINGS = ["", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".mts", ".json"];
const SOURCES = /\.(?:[mc]?[jt]s|[jt]sx)$/;

/** A file without local imports has the digest that version 0.1 stored. */
export function codeDigest(file: string): string {
  const root = dirname(file);
  const found = new Map<string, string>();
  const visit = (path: string): void => {
    if (found.has(path)) return;
    const text = readFileSync(path, "utf8");
    found.set(path, text);
    if (!SOURCES.test(path)) return;
    for (const [, target = ""] of text.matchAll(IMPORT)) {
      const imported = resolveImport(dirname(path), target);
      if (imported !== undefined) visit(imported);
    }
  };
  visit(resolve(file));
  const [[, own] = ["", ""], ...others] = found;
  if (others.length === 0) return sha256(own);
  const lines = [...found].map(
    ([path, text]) => `${relative(root, path).split(sep).join("/")} ${sha256(text)}`,
  );
  return sha256(lines.sort().join("\n"));
}

/** Programs write `./x.js` for `x.ts`. */
function resolveImport(folder: string, target: string): string | undefined {
  const base = resolve(folder, target.replace(/[?#].*$/, ""));
  const candidates = [
    ...ENDINGS.map((ending) => base + ending),
    ...ENDINGS.slice(1).map((ending) => base.replace(/\.[mc]?jsx?$/, "") + ending),
    ...ENDINGS.slice(1).map((ending) => resolve(base, `index${ending}`)),
  ];
  return candidates.find((path) => existsSync(path) && statSync(path).isFile());
}
