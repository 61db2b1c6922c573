/** Bundles the page into `dist/ui`: one script, one style sheet, and nothing from other hosts. */
import { build } from "esbuild";
import { copyFileSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../ui/", import.meta.url));
const target = fileURLToPath(new URL("../dist/ui/", import.meta.url));

mkdirSync(target, { recursive: true });
await build({
  entryPoints: [`${source}app.tsx`, `${source}app.css`],
  outdir: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  tsconfigRaw: "{}",
  legalComments: "none",
  // Copied below: the style sheet finds it beside itself.
  external: ["icon.svg"],
  logLevel: "warning",
});
for (const name of ["index.html", "icon.svg"]) copyFileSync(`${source}${name}`, `${target}${name}`);
