/** `npm run example <name> [options]`: a workflow is run by the `toolwright` command, a program by Node. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { TOOLWRIGHT } from "./toolwright-command.ts";

const EXAMPLES: Readonly<Record<string, string>> = {
  quickstart: "quickstart.ts",
  demo: "demo/demo.ts",
  refactor: "refactor/refactor.tsx",
  "review-loop": "review-loop.tsx",
  "fan-out": "fan-out.tsx",
  "durable-order": "durable-order/durable-order.ts",
};

const [name = "", ...options] = process.argv.slice(2);
const file = EXAMPLES[name];
if (file === undefined) {
  console.error(`Run: npm run example <name>, where <name> is one of: ${Object.keys(EXAMPLES).join(", ")}`);
  process.exit(1);
}
const path = join(import.meta.dirname, file);
const isWorkflow = file.endsWith(".tsx");
console.log(`$ ${isWorkflow ? "toolwright up" : "node"} examples/${[file, ...options].join(" ")}`);
// Ctrl-C is for the example, which says how to go on.
process.on("SIGINT", () => undefined);
const args = isWorkflow ? [TOOLWRIGHT, "up", path] : [path];
spawn(process.execPath, [...args, ...options], { stdio: "inherit" }).once("close", (code) => {
  process.exitCode = code ?? 1;
});
