/**
 * Bundles the code into `dist`: one file for each import path and command, and their shared code in `dist/chunks`. From
 * 500 small files, a process takes longer to start: see docs/decisions/0032-the-package-is-bundled.md.
 */
import { globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { rolldown } from "rolldown";

interface Graph {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

const PROJECT = resolve(import.meta.dirname, "..");
const SOURCE = join(PROJECT, "src");

/** Files that are started or loaded by their path. */
const BY_PATH = ["cli/main", "load/register", "load/hooks"];

/** Each is imported before an optional package, so that a planted one does not run. */
const GUARDS = globSync("load/peers/*.ts", { cwd: SOURCE }).map((file) => file.slice(0, -".ts".length));

/** What most processes load, one after the other. Code that the same processes need is in one file. */
const STAGES = ["index", "cli/program", "runtime/store-runtime", "workflow/start-run", "cli/run-file"];

const imports = new Map<string, ReadonlySet<string>>();

const bundle = await rolldown({
  cwd: PROJECT,
  input: Object.fromEntries(
    [...exportedFiles(), ...BY_PATH, ...GUARDS].map((name) => [name, sourceOf(name)]),
  ),
  platform: "node",
  // The oldest Node in package.json, which does not know `await using`.
  transform: { target: "node22.13" },
  external: (id) => !id.startsWith(".") && !id.startsWith("/") && !isHelper(id),
  // The guards are imported for their effect.
  treeshake: { moduleSideEffects: true },
  checks: { ineffectiveDynamicImport: false },
});
const { output } = await bundle.write({
  dir: "dist",
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  comments: { jsdoc: false },
  codeSplitting: {
    groups: [{ debugName: "stages", name: (id, graph) => groupOf(id, graph) }],
  },
});
await bundle.close();

const written = new Set(output.map(({ fileName }) => `dist/${fileName}`));
for (const chunk of output)
  if (chunk.type === "chunk") for (const input of chunk.moduleIds) assertSameDepth(input, chunk.fileName);
// Those of an older build. They are removed last, so that a process that starts meanwhile finds all its files.
for (const file of globSync("dist/**/*.js", { cwd: PROJECT }))
  if (!written.has(file) && !file.startsWith("dist/ui/")) rmSync(join(PROJECT, file));

/**
 * The file for a module: the stages that need it, and whether it needs Zod, which takes longer to load than all of our
 * code. A module needs no more stages than its imports do, so no two files import each other.
 */
function groupOf(id: string, graph: Graph): string | null {
  const stages = STAGES.filter((stage) => importsOf(sourceOf(stage), graph).has(id));
  if (stages.length === 0 || isEntry(id)) return null;
  const names = stages.map((stage) => stage.slice(stage.lastIndexOf("/") + 1));
  return [...names, ...(importsOf(id, graph).has("zod") ? ["zod"] : [])].join("-");
}

/** Code of the bundler itself, for syntax that Node 22 does not know. */
function isHelper(id: string): boolean {
  return id.startsWith("@oxc-project/runtime/") || id.startsWith("\0");
}

/** All that a module imports, directly and indirectly, and itself. */
function importsOf(id: string, graph: Graph): ReadonlySet<string> {
  const known = imports.get(id);
  if (known !== undefined) return known;
  const found = new Set([id]);
  for (const each of found)
    for (const imported of graph.getModuleInfo(each)?.importedIds ?? []) found.add(imported);
  imports.set(id, found);
  return found;
}

function isEntry(id: string): boolean {
  return [...BY_PATH, ...GUARDS].some((name) => sourceOf(name) === id);
}

function sourceOf(name: string): string {
  return join(SOURCE, `${name}.ts`);
}

function exportedFiles(): string[] {
  const { exports } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  return Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [] : [target.default.slice("./dist/".length, -".js".length)],
  );
}

/** Code finds other files relative to itself, so it has to stay two folders below the package. */
function assertSameDepth(input: string, output: string): void {
  const source = relative(SOURCE, input);
  // Lines that begin with a star are comments.
  if (source.startsWith("..") || !/^(?!\s*\*).*import\.meta/m.test(readFileSync(input, "utf8"))) return;
  if ([source, output].some((file) => dirname(dirname(file)) !== "." || dirname(file) === "."))
    throw new Error(`${source} uses import.meta, and in ${output} its relative paths lead elsewhere`);
}
