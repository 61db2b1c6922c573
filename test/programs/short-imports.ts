/**
 * Preloaded into every process that the tests start. A program loads hundreds of our files and a hundred of Zod's, and to
 * search for them, with links and package.json files, takes Node a third of the start. A relative import between those
 * files always names an existing file of the same format, so its path is the answer.
 */
import { registerHooks } from "node:module";

const PROJECT = new URL("../../", import.meta.url).href;
const FORMATS: readonly (readonly [folder: string, ending: string, format: string])[] = [
  [`${PROJECT}src/`, ".ts", "module-typescript"],
  [`${PROJECT}node_modules/zod/`, ".js", "module"],
];

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    if (specifier.startsWith(".") && parentURL !== undefined && context.conditions.includes("import"))
      for (const [folder, ending, format] of FORMATS)
        if (parentURL.startsWith(folder) && specifier.endsWith(ending))
          return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
    return next(specifier, context);
  },
});
