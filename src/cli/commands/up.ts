/** `toolwright up <file>`: starts a run of a workflow. */
import type { Command } from "commander";
import { type Acting, acting, EXIT_HELP, examples, withCommonOptions } from "../command.ts";
import { readJson } from "../parse-options.ts";
import { loadSettingsFor } from "../project-settings.ts";
import { assertCanAsk, type RunOptions, toStartOptions, withRunOptions } from "../run-options.ts";

interface UpOptions extends RunOptions {
  readonly input?: string;
  readonly runId?: string;
  readonly resume?: boolean;
}

export function addUpCommand(program: Command): void {
  const command = program
    .command("up")
    .summary("start a run of a workflow")
    .description(
      "Starts a run of the workflow that a file exports by default (.ts, .tsx, .js, .jsx, .mjs), or of a workflow in the config.",
    )
    .argument("<file>", "the workflow file, or the name of a workflow in toolwright.config")
    .option("--input <json>", "the input: JSON, @file, or - for stdin")
    .option("--run-id <id>", "the id of the run (default: a new one)")
    .option("--resume", "resume the run named by --run-id");
  withCommonOptions(withRunOptions(command))
    .addHelpText(
      "after",
      examples(
        `toolwright up workflow.tsx --input '{"item":"apple","quantity":2}'`,
        "toolwright up workflow.tsx --input @order.json --run-id order-17",
        "toolwright up workflow.tsx --input @order.json --ask",
        "toolwright up workflow.tsx --input @order.json --wait",
        "cat order.json | toolwright up workflow.tsx --input - --json",
      ) + EXIT_HELP,
    )
    .action(
      acting(async ({ screen, options }: Acting<UpOptions>, given: string) => {
        assertCanAsk(options);
        const { runFile } = await import("../run-file.ts");
        const { findWorkflowFile } = await import("../load-workflow.ts");
        const config = await loadSettingsFor(screen);
        const file = findWorkflowFile(given, config?.workflows);
        if (options.resume === true) {
          const { resumeRun } = await import("../resume-run.ts");
          return resumeRun(screen, options.runId, { ...options, file });
        }
        const input = options.input === undefined ? undefined : readJson("--input", options.input);
        return runFile(screen, {
          store: options.store,
          file,
          runId: options.runId,
          resume: false,
          ask: options.ask,
          wait: options.wait,
          config,
          run: { input, ...toStartOptions(options, config) },
        });
      }),
    );
}
