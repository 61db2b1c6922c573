/**
 * The declaration files as a user's compiler sees them: installed with zod and commander only, without Node's types,
 * with every declaration file checked, by TypeScript 5.9 and 7. The subpaths that need a peer are compiled next to it.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IS_EXHAUSTIVE } from "../amount.ts";
import { buildPackageInto } from "../built-package.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const MODULES = join(PROJECT, "node_modules");
/** The packages that each subpath needs besides the package's own dependencies and zod. */
const PEERS: Readonly<Record<string, string>> = {
  "ai-sdk": "ai",
  anthropic: "@anthropic-ai/sdk",
  effect: "effect",
  langchain: "@langchain/core",
  mcp: "@modelcontextprotocol/server",
  "openai-agents": "@openai/agents",
  otel: "@opentelemetry/api",
};
/** Peers whose own declarations need more than the oldest library: Node's types, and Symbol.asyncDispose. */
const TOLERATED = ["@modelcontextprotocol/server", "@langchain/core"];
const COMPILERS = { "TypeScript 5.9": "typescript-5", "TypeScript 7": "typescript" } as const;

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "toolwright-types-"));
  const installed = join(folder, "node_modules");
  const own = join(installed, "toolwright");
  mkdirSync(own, { recursive: true });
  for (const name of ["zod", "commander"])
    cpSync(join(MODULES, name), join(installed, name), { recursive: true });
  cpSync(join(PROJECT, "package.json"), join(own, "package.json"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  buildPackageInto(join(own, "dist"));
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The compiler's errors for the user's files. One run for all, because reading the packages takes most of the time. */
function compile(compiler: string, files: Readonly<Record<string, string>>, cwd = folder): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  // The oldest library that zod supports: the package must not require a newer one.
  const settings = [
    "--strict",
    "--noEmit",
    "--skipLibCheck",
    "false",
    "--module",
    "nodenext",
    "--target",
    "es2022",
  ];
  const { stdout } = spawnSync(
    process.execPath,
    [join(MODULES, compiler, "bin/tsc"), ...settings, ...Object.keys(files)],
    { cwd, encoding: "utf8" },
  );
  return stdout;
}

const PRELUDE = `
import { createRuntime, createTool, defineTool, type DefineToolOptions, type Tool } from "toolwright";
import { z, type ZodType } from "zod";
const schema = z.object({ sku: z.string() });
const runtime = createRuntime();
`;

/** Code of the newest page, and the types that it expects. */
const FITS = `${PRELUDE}
const wholeFoods = { placeOrder: async (order: { sku: string; idempotencyKey: string }) => ({ id: order.sku }) };
export function page<S extends ZodType>(options: DefineToolOptions<S>): Tool { return defineTool(options); }
export function explicit<S extends ZodType>(options: DefineToolOptions<S>): Tool { return defineTool<S>(options); }
const placeOrder = defineTool({
  name: "wholefoods.place_order",
  description: "Place a grocery order",
  schema: z.object({ sku: z.string() }),
  sideEffect: true,
  idempotent: false,
  async execute(args, ctx) {
    return wholeFoods.placeOrder({ sku: args.sku, idempotencyKey: ctx.idempotencyKey });
  },
});
const options: DefineToolOptions<typeof schema> = { name: "x", schema, execute: async (args, ctx) => ctx.seq + args.sku };
const tool: Tool = defineTool(options);
export const tools: Tool[] = [placeOrder, tool, page(options), explicit(options)];
export const literal = defineTool({
  name: "x", schema, outputSchema: z.object({ kind: z.enum(["a", "b"]) }),
  execute: async (args, ctx) => ({ kind: args.sku === ctx.runId ? "a" : "b" }),
});
export const either = defineTool({ name: "x", schema, execute: ({ sku }) => (sku === "" ? 1 : { is_error: true }) });
export const ids: Promise<string[]> = runtime
  .call(placeOrder, { sku: "a" }, { runId: "r" })
  .then((outcome) => (outcome.status === "success" ? [outcome.output.id] : []));
export const passed = <Args, Output>(given: Tool<Args, Output>, args: Args) => runtime.call(given, args);
void runtime.call({ name: "foreign", invoke: (count: number) => count }, { anything: true });
void runtime.call(tool, { sku: 5 });
void runtime.close();
`;

/** Each mistake, with the part that the error must point at between « and ». */
const MISTAKES: readonly (readonly [code: string, message: RegExp])[] = [
  [
    `defineTool({ name: "x", schema, outputSchema: z.object({ id: z.string() }), execute: () => ({ «id»: 5 }) });`,
    /Type 'number' is not assignable to type 'string'/,
  ],
  [
    `defineTool({ name: "x", schema, outputSchema: z.object({ id: z.string() }), execute: async () => «({ id: 5 })» });`,
    /Type '\{ id: number; \}' is not assignable to type '\{ id: string; \}'/,
  ],
  [
    `defineTool({ name: "x", schema, outputSchema: z.object({ id: z.string() }), async «execute»(args) { return { ident: args.sku }; } });`,
    /Property 'id' is missing/,
  ],
  [
    `createTool({ name: "x", schema, outputSchema: z.array(z.object({ id: z.string() })), func: ({ sku }) => [{ id: sku }, { «id»: 1 }] });`,
    /Type 'number' is not assignable to type 'string'/,
  ],
  [
    `createTool({ name: "x", schema, outputSchema: z.string(), func: () => «5» });`,
    /'number' is not assignable/,
  ],
  [
    `defineTool({ name: "x", schema, «sideEffects»: true, execute: () => 1 });`,
    /'sideEffects' does not exist/,
  ],
  [`defineTool({ name: "x", schema, «sideEffect»: "yes", execute: () => 1 });`, /'string' is not assignable/],
  [`defineTool({ name: "x", schema, execute: (args) => args.«skus» });`, /'skus' does not exist/],
  [`runtime.call(search, { «sku»: 5 });`, /Type 'number' is not assignable to type 'string'/],
  [`runtime.call(search, { «ku»: "a" });`, /'ku' does not exist in type '\{ sku: string; \}'/],
  [`runtime.call(search, «{}»);`, /Property 'sku' is missing/],
  [`runtime.call(search, { sku: "a" }, { «runid»: "r" });`, /'runid' does not exist/],
];

/** Where the declarations of each subpath begin. */
function entries(): [subpath: string, types: string][] {
  const { exports } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as {
    exports: Record<string, string | { types: string }>;
  };
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [[path.replace(/^\.\/?/, ""), target.types]],
  );
}

function exportAll(subpaths: readonly string[]): string {
  return subpaths
    .map((path, index) => `export * as m${index} from "${join("toolwright", path)}";`)
    .join("\n");
}

/** The packages that a declaration file imports, itself or through other files of the package. */
function packagesReached(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const text = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  const names = [...text.matchAll(/(?:\bfrom|\bimport|import\()\s*"([^"]+)"/g)].map(([, name = ""]) => name);
  return new Set(
    names.flatMap((name) =>
      name.startsWith(".")
        ? [...packagesReached(join(dirname(file), name.replace(/\.[jt]s$/, ".d.ts")), seen)]
        : [/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name],
    ),
  );
}

test("the declarations of a subpath import its own peer, and no other", () => {
  const reached = entries().map(([path, types]) => {
    const packages = packagesReached(join(folder, "node_modules/toolwright", types));
    return [path, [...packages].filter((name) => !["zod", "commander"].includes(name))];
  });
  expect(Object.fromEntries(reached)).toEqual(
    Object.fromEntries(entries().map(([path]) => [path, path in PEERS ? [PEERS[path]] : []])),
  );
});

// The older compiler takes a minute for the declarations of all peers.
const WITH_PEERS = Object.entries(COMPILERS).slice(IS_EXHAUSTIVE ? 0 : 1);

test.each(WITH_PEERS)(
  "%s accepts every subpath that needs a peer beside that peer, and our files have no error",
  { timeout: 600_000 },
  (_name, compiler) => {
    const beside = mkdtempSync(join(folder, "peers-"));
    cpSync(join(folder, "node_modules/toolwright"), join(beside, "node_modules/toolwright"), {
      recursive: true,
    });
    cpSync(join(folder, "package.json"), join(beside, "package.json"));
    // The links give the peers and the package the same zod.
    for (const name of ["zod", "commander", ...Object.values(PEERS)]) {
      const link = join(beside, "node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(MODULES, name), link);
    }
    const output = compile(compiler, { "subpaths.ts": exportAll(Object.keys(PEERS)) }, beside);
    const errors = output.split(/^(?=\S)/m).filter((error) => error !== "");
    const ofPeer = (error: string): boolean =>
      TOLERATED.some((name) => error.split("(")[0]?.includes(`/node_modules/${name}/`));
    expect(errors.filter((error) => !ofPeer(error))).toEqual([]);
  },
);

test.each(Object.entries(COMPILERS))(
  "%s accepts every subpath that needs no peer and the code of the pages, and points at mistakes",
  { timeout: 120_000 },
  (_name, compiler) => {
    const start = `${PRELUDE}const search = defineTool({ name: "search", schema, execute: ({ sku }) => [sku] });\n`;
    const mistakes = start + MISTAKES.map(([code]) => code.replace(/[«»]/g, "")).join("\n");
    const alone = entries().flatMap(([path]) => (path in PEERS ? [] : [path]));
    const output = compile(compiler, {
      "subpaths.ts": exportAll(alone),
      "fits.ts": FITS,
      "mistakes.ts": mistakes,
    });
    const errors = output.split(/^(?=\S)/m);
    expect(errors.filter((error) => !error.startsWith("mistakes.ts"))).toEqual([]);
    const found = errors.map((error) => {
      const [, line = "", column = ""] = /\((\d+),(\d+)\)/.exec(error) ?? [];
      return { line: Number(line), column: Number(column), error };
    });
    expect(found).toEqual(
      MISTAKES.map(([code, message], index) => ({
        line: start.split("\n").length + index,
        column: code.indexOf("«") + 1,
        error: expect.stringMatching(message) as string,
      })),
    );
  },
);
