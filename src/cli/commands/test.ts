/** `toolwright test [files]`: Node's test runner, on files that import workflows. */
import { spawn } from "node:child_process";
import type { Command } from "commander";
import { preloadFlags } from "../../load/preload.ts";
import { type Acting, acting, EXIT, examples } from "../command.ts";

export function addTestCommand(program: Command): void {
  program
    .command("test")
    .summary("run tests of workflows with Node's test runner")
    .description(
      "Runs test files with Node's own test runner (node --test), loading .ts and .tsx as the other commands do.",
    )
    .argument(
      "[files...]",
      "the test files (default: those that node --test finds, and *.test.ts and *.test.tsx)",
    )
    .addHelpText("after", examples("toolwright test", "toolwright test workflow.test.ts"))
    .action(
      acting(async (_context: Acting<object>, files: string[]) => {
        const found = files.length > 0 ? files : ["**/*.test.{js,jsx,mjs,ts,tsx}"];
        const options = [...preloadFlags(), "--test"];
        // A test runner that is run by a test runner would report to that one.
        const { NODE_TEST_CONTEXT: _outer, ...env } = process.env;
        const node = spawn(process.execPath, [...options, ...found], { stdio: "inherit", env });
        return new Promise<number>((resolve, reject) => {
          node.once("error", reject);
          node.once("close", (code) => resolve(code === 0 ? EXIT.finished : EXIT.failed));
        });
      }),
    );
}
