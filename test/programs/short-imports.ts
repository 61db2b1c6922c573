/**
 * Preloaded into every process that the tests start. A program loads hundreds of our files and a hundred of Zod's, and to
 * search for them, with links and package.json files, takes Node a third of the start. A relative import between those
 * files always names an existing file of the same format, so its path is the answer. What esbuild compiles is kept. On Node
 * 22, files with `using` are compiled, since it only removes their types.
 */
import type * as Esbuild from "esbuild";
import { createRequire, registerHooks } from "node:module";

const PROJECT = new URL("../../", import.meta.url).href;
const FORMATS: readonly (readonly [folder: string, ending: string, format: string])[] = [
  [`${PROJECT}src/`, ".ts", "module-typescript"],
  [`${PROJECT}dist/`, ".js", "module"],
  [`${PROJECT}node_modules/zod/`, ".js", "module"],
];

const COMPILER = new URL("cached-compiler.ts", import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    if (
      specifier === "esbuild" &&
      /\/(?:src\/load\/compile\.ts|dist\/chunks\/[^/]*\.js)$/.test(parentURL ?? "")
    )
      return { url: COMPILER, format: "module-typescript", shortCircuit: true };
    if (specifier.startsWith(".") && parentURL !== undefined && context.conditions.includes("import"))
      for (const [folder, ending, format] of FORMATS)
        if (parentURL.startsWith(folder) && specifier.endsWith(ending))
          return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
    return next(specifier, context);
  },
});

function knowsUsing(): boolean {
  try {
    // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the only way to ask for syntax
    void new Function("{ using nothing = null; }");
    return true;
  } catch {
    return false;
  }
}

if (!knowsUsing()) {
  const { transformSync } = createRequire(import.meta.url)("esbuild") as typeof Esbuild;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const { format, source = "" } = loaded;
      if (format !== "module-typescript" || source === null) return loaded;
      const text = typeof source === "string" ? source : new TextDecoder().decode(source);
      if (!/^\s*(?:await )?using /m.test(text)) return loaded;
      const { code } = transformSync(text, { loader: "ts", target: `node${process.versions.node}` });
      return { ...loaded, format: "module", source: code, shortCircuit: true };
    },
  });
}
