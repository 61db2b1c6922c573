/**
 * Writes what each entry of the package exports, with its types, to `api/`. A test compares the files with the build, so a
 * change of the public API shows in the diff of a pull request. Run it after `npm run build`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript-5";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The text of each report, by the name of its file. */
export function createApiReports(): ReadonlyMap<string, string> {
  const entries = listEntries();
  const program = ts.createProgram({
    rootNames: entries.map(({ types }) => join(root, types)),
    options: {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ESNext,
      skipLibCheck: true,
      noEmit: true,
      types: ["node"],
    },
  });
  const checker = program.getTypeChecker();
  return new Map(
    entries.map(({ name, types }) => {
      const file = program.getSourceFile(join(root, types));
      const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
      if (module === undefined) throw new Error(`${types} is missing: run \`npm run build\` first.`);
      const symbols = checker.getExportsOfModule(module).toSorted((a, b) => compare(a.name, b.name));
      const texts = symbols.map((symbol) => describe(symbol, checker));
      return [`${fileNameOf(name)}.api.md`, report(name, texts)] as const;
    }),
  );
}

interface Entry {
  readonly name: string;
  readonly types: string;
}

function listEntries(): Entry[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  return Object.entries(exports).flatMap(([path, target]) => {
    return typeof target === "string" ? [] : [{ name: `toolwright${path.slice(1)}`, types: target.types }];
  });
}

function fileNameOf(name: string): string {
  return name.replaceAll("/", "-");
}

function describe(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  const target = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
  const texts = (target.declarations ?? []).map((declaration) => textOf(declaration));
  return `// ${symbol.name}\n${[...new Set(texts)].join("\n")}`;
}

const printer = ts.createPrinter({ removeComments: true });

function textOf(declaration: ts.Declaration): string {
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  return printer.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile());
}

function report(name: string, texts: readonly string[]): string {
  return `# ${name}\n\nMade by \`node scripts/api-report.ts\`; do not edit.\n\n\`\`\`ts\n${texts.join("\n\n")}\n\`\`\`\n`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

if (import.meta.main) {
  mkdirSync(join(root, "api"), { recursive: true });
  for (const [name, text] of createApiReports()) writeFileSync(join(root, "api", name), text);
}
