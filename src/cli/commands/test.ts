/** `toolwright test [files]`: runs Node's test runner on files that import workflows. */
import { spawn } from "node:child_process";
import type { Command } from "commander";
import { preloadFlags } from "../../load/preload.ts";
import { type Acting, acting, EXIT, examples, withOutputOptions } from "../command.ts";

const DEFAULT_FILES = "**/*.test.{js,jsx,mjs,ts,tsx}";

export function addTestCommand(program: Command): void {
  const command = program
    .command("test")
    .summary("run tests of workflows with Node's test runner")
    .description("Runs test files with Node's test runner (node --test), and loads .ts and .tsx files.")
    .argument(
      "[files...]",
      "the test files (default: *.test.ts, *.test.tsx and the files that node --test finds)",
    );
  withOutputOptions(command)
    .addHelpText(
      "after",
      examples("toolwright test", "toolwright test workflow.test.ts", "toolwright test --json"),
    )
    .action(
      acting(async ({ screen }: Acting<object>, files: string[]) => {
        const found = files.length > 0 ? files : [DEFAULT_FILES];
        if (screen.isJson) {
          const { findTests, runTests } = await import("../run-tests.ts");
          const paths = await findTests(found);
          if (paths.length === 0 && files.length > 0) {
            const { CliError } = await import("../cli-error.ts");
            throw new CliError(
              "CLI_FILE_MISSING",
              `There is no test file ${files.join(", ")}.`,
              "Name the test files, or leave them out to run all *.test.* files of this folder.",
            );
          }
          const report = await runTests(paths);
          screen.printJson(report);
          return report.ok ? EXIT.finished : EXIT.failed;
        }
        const options = [...preloadFlags(), "--test"];
        // Inside another test run, the inner runner would report to the outer one.
        const { NODE_TEST_CONTEXT: _outer, ...env } = process.env;
        const node = spawn(process.execPath, [...options, ...found], { stdio: "inherit", env });
        return new Promise<number>((resolve, reject) => {
          node.once("error", reject);
          node.once("close", (code) => resolve(code === 0 ? EXIT.finished : EXIT.failed));
        });
      }),
    );
}
