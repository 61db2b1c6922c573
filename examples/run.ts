/** `npm run example <name> [options]`: runs a workflow with the `toolwright` command, and a program with Node. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join, parse } from "node:path";
import { TOOLWRIGHT } from "./toolwright-command.ts";

const HELPERS: ReadonlySet<string> = new Set(["run", "toolwright-command"]);

/** A file, or a folder that contains a file with the same name. */
const EXAMPLES = new Map(
  readdirSync(import.meta.dirname).flatMap((entry) => {
    const { name } = parse(entry);
    const files = [entry, `${entry}/${name}.ts`, `${entry}/${name}.tsx`];
    const file = files.find((one) => /\.tsx?$/.test(one) && existsSync(join(import.meta.dirname, one)));
    return file === undefined || HELPERS.has(name) ? [] : [[name, file] as const];
  }),
);

const [name = "", ...options] = process.argv.slice(2);
const file = EXAMPLES.get(name);
if (file === undefined) {
  console.error(`Run: npm run example <name>, where <name> is one of: ${[...EXAMPLES.keys()].join(", ")}`);
  process.exit(1);
}
const path = join(import.meta.dirname, file);
const isWorkflow = file.endsWith(".tsx");
console.log(`$ ${isWorkflow ? "toolwright up" : "node"} examples/${[file, ...options].join(" ")}`);
// The example handles Ctrl-C itself, and prints how to resume.
process.on("SIGINT", () => undefined);
const args = isWorkflow ? [TOOLWRIGHT, "up", path] : [path];
spawn(process.execPath, [...args, ...options], { stdio: "inherit" }).once("close", (code) => {
  process.exitCode = code ?? 1;
});
