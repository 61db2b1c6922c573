/**
 * Bundles a program of the tests with our sources into one file. For programs that are started repeatedly, as after
 * each kill: from hundreds of files a process takes three times as much processor time to start.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { buildSync } from "esbuild";

const PROJECT = resolve(import.meta.dirname, "..");

/** Large packages. Only programs that import them contain them; for others, Node finds them as usual. */
const LARGE = ["@anthropic-ai/*", "@langchain/*", "@modelcontextprotocol/*", "@openai/*", "ai"];
/** Packages that are not JavaScript, or data. */
const NOT_BUNDLED = ["@opentelemetry/*", "@vscode/ripgrep", "esbuild", "gpt-tokenizer", "pg-native"];

export interface BundleFolder {
  readonly path: string;
  remove(): void;
}

export function createBundleFolder(): BundleFolder {
  const path = mkdtempSync(join(tmpdir(), "toolwright-programs-"));
  // The code finds its SQL files two folders above itself.
  mkdirSync(join(path, "built", "programs"), { recursive: true });
  for (const name of ["sql", "package.json", "node_modules"])
    symlinkSync(join(PROJECT, name), join(path, name));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * @param folder the path of a `BundleFolder`. A program that is in it already is not built again, unless vitest watches.
 * @returns the file to start
 */
export function bundleProgram(file: string, folder: string): string {
  const name = relative(PROJECT, file).replaceAll("/", "-");
  const built = join(folder, "built", "programs", `${name}.mjs`);
  if (existsSync(built) && process.env["VITEST_MODE"] !== "WATCH") return built;
  const text = readFileSync(file, "utf8");
  const unfinished = `${built}.${process.pid}`;
  buildSync({
    entryPoints: [file],
    outfile: unfinished,
    bundle: true,
    minifyWhitespace: true,
    platform: "node",
    format: "esm",
    target: "node22.13",
    external: [...NOT_BUNDLED, ...LARGE.filter((name) => !text.includes(` from "${name.replace("*", "")}`))],
    // The guards of optional packages are imported for their effect.
    ignoreAnnotations: true,
    // Packages in CommonJS call it.
    banner: {
      js: 'import { createRequire as createRequireOf } from "node:module"; const require = createRequireOf(import.meta.url);',
    },
    logLevel: "error",
  });
  // Another process may build it at the same time.
  renameSync(unfinished, built);
  return built;
}
