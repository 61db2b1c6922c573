/** `toolwright resume <run-id>`: resumes a run where it stopped. */
import type { Command } from "commander";
import { type Acting, acting, EXIT_HELP, examples, withCommonOptions } from "../command.ts";
import type { ResumeOptions } from "../resume-run.ts";
import { withRunOptions } from "../run-options.ts";

export function addResumeCommand(program: Command): void {
  const command = program
    .command("resume")
    .summary("resume a run where it stopped")
    .description(
      "Resumes a run that was interrupted, stopped, waiting or failed. Its file, input and options are stored; finished tasks and calls do not run again. A run without a file on this machine is handed to a worker that knows it.",
    )
    .argument("<run-id>", "the id of the run")
    .option("--file <file>", "the workflow file, if it has moved")
    .option("--accept-changes", "resume even though the workflow has changed since the start");
  withCommonOptions(withRunOptions(command))
    .addHelpText(
      "after",
      examples(
        "toolwright resume order-17",
        "toolwright resume order-17 --ask",
        "toolwright resume order-17 --json",
      ) + EXIT_HELP,
    )
    .action(
      acting(async ({ screen, options }: Acting<ResumeOptions>, runId: string) => {
        const { resumeRun } = await import("../resume-run.ts");
        return resumeRun(screen, runId, options);
      }),
    );
}
