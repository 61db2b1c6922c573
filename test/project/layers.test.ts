/** The folders are the layers: a file imports from its own folder or from a lower layer only. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { expect, test } from "vitest";

const SOURCE = resolve(import.meta.dirname, "../../src");

/** Lowest first. Folders on one layer do not import each other. */
const LAYERS = [
  ["errors.ts", "util", "load"],
  ["terminal"],
  ["store", "sandbox"],
  ["definition", "stream"],
  ["invoke", "snapshot", "http"],
  ["tool"],
  ["runtime"],
  ["loop", "model"],
  ["builtin", "adapters", "testing", "otel"],
  ["agent", "workflow"],
  ["operate"],
  ["worker"],
  ["server"],
  ["cli"],
  ["index.ts", "effect.ts", "jsx-runtime.ts", "postgres.ts"],
  ["jsx-dev-runtime.ts"],
];

/** Loaded on first use: a runtime is a face of the operator's functions, like the command line, and so is a replay in a test. */
const UPWARD = new Set([
  "runtime/create-runtime.ts imports ../operate/runtime-operations.ts",
  "testing/record-run.ts imports ../operate/fixtures/record-run.ts",
  "testing/replay-run.ts imports ../operate/fixtures/replay-run.ts",
]);

function folderOf(file: string): string {
  return relative(SOURCE, file).split(sep)[0] ?? "";
}

function layerOf(folder: string): number {
  return LAYERS.findIndex((folders) => folders.includes(folder));
}

const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
  .map((name) => resolve(SOURCE, name));

test("every file belongs to a layer", () => {
  expect(files.filter((file) => layerOf(folderOf(file)) < 0)).toEqual([]);
});

test("imports point down", () => {
  const wrong = files.flatMap((file) => {
    const imports = readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g);
    return [...imports].flatMap(([, path = ""]) => {
      const target = resolve(dirname(file), path);
      const [from, to] = [folderOf(file), folderOf(target)];
      return from === to || layerOf(to) < layerOf(from) ? [] : [`${relative(SOURCE, file)} imports ${path}`];
    });
  });
  expect(wrong.filter((found) => !UPWARD.has(found))).toEqual([]);
});

test("the command line and the server read and change the store through src/operate only", () => {
  const wrong = files.filter(
    (file) =>
      ["cli", "server"].includes(folderOf(file)) && /"(?:\.\.\/)+store\//.test(readFileSync(file, "utf8")),
  );
  expect(wrong).toEqual([]);
});

test("no import cycles", () => {
  const graph = new Map(
    files.map((file) => [
      file,
      [...readFileSync(file, "utf8").matchAll(/^import (?!type)[^;]*?from "(\.[^"]+)"/gms)].map(
        ([, path = ""]) => resolve(dirname(file), path),
      ),
    ]),
  );
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, above: readonly string[]): void => {
    if (above.includes(file)) {
      circles.push(
        [...above.slice(above.indexOf(file)), file].map((one) => relative(SOURCE, one)).join(" -> "),
      );
      return;
    }
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...above, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

test("an optional package is loaded through importPeer, or after its guard", () => {
  const manifest = JSON.parse(readFileSync(resolve(SOURCE, "../package.json"), "utf8")) as {
    peerDependenciesMeta: Record<string, unknown>;
  };
  const peers = Object.keys(manifest.peerDependenciesMeta).join("|");
  /** The entry points that import a guard first, by the folder that they open. */
  const guarded = ["adapters/langchain", "adapters/mcp", "adapters/openai-agents", "otel", "effect.ts"];
  const wrong = files.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    const name = relative(SOURCE, file);
    const late = [...text.matchAll(new RegExp(`(.{0,80})\\bimport\\(\\s*"(?:${peers})[/"]`, "gs"))];
    const early = new RegExp(`^import (?!type)[^;]*?from "(?:${peers})[/"]`, "ms").exec(text)?.[0] ?? "";
    const isValue = early !== "" && !/^import \{(?:\s*type [^,}]+,?)*\s*\}/.test(early);
    return [
      ...late.filter(([, before = ""]) => !before.includes("importPeer(")).map(() => `${name} imports late`),
      ...(isValue && !guarded.some((each) => name.startsWith(each)) ? [`${name} imports early`] : []),
    ];
  });
  expect(wrong).toEqual([]);
  for (const each of guarded) {
    const entry = readFileSync(resolve(SOURCE, each.endsWith(".ts") ? each : `${each}/index.ts`), "utf8");
    expect(/^(?:import|export) [^;]*;/m.exec(entry)?.[0]).toMatch(/load\/peers\//);
  }
});
