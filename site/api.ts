/** The API reference: one page for each export of each subpath, from the declaration files of the build. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Application } from "typedoc";
import { CONTENT, ROOT } from "./content.ts";

export async function writeApiPages(): Promise<void> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  const entryPoints = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [] : [join(ROOT, target.types)],
  );
  // Options of the Markdown plugin are not in TypeDoc's own type.
  const options: object = {
    name: "API",
    entryPoints,
    tsconfig: join(import.meta.dirname, "tsconfig.json"),
    plugin: ["typedoc-plugin-markdown"],
    out: join(CONTENT, "api"),
    readme: "none",
    excludeInternal: true,
    skipErrorChecking: true,
    disableSources: true,
    hideBreadcrumbs: true,
    entryFileName: "index",
    validation: { notExported: false },
    logLevel: "Error",
  };
  const app = await Application.bootstrapWithPlugins(options);
  const project = await app.convert();
  if (project === undefined)
    throw new Error("The declaration files cannot be read. Run `npm run build` first.");
  for (const module of project.children ?? []) module.name = subpathOf(module.name);
  project.children?.sort((one, other) => one.name.localeCompare(other.name));
  await app.generateOutputs(project);
}

/** The modules are named after their files. */
function subpathOf(file: string): string {
  const path = file
    .replace(/^adapters\//, "")
    .replace(/\/index$/, "")
    .replace(/^builtin$/, "tools");
  return path === "index" ? "toolwright" : `toolwright/${path}`;
}
