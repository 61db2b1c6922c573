/** `toolwright resume <run-id>`: goes on with a run where it was. */
import type { Command } from "commander";
import { type Acting, acting, examples, withCommonOptions } from "../command.ts";
import type { ResumeOptions } from "../resume-run.ts";
import { withRunOptions } from "../run-options.ts";

export function addResumeCommand(program: Command): void {
  const command = program
    .command("resume")
    .summary("go on with a run where it was")
    .description(
      "Goes on with a run that was killed, was stopped, waited or failed. Its file, input and options are on record; finished tasks and calls are not made again.",
    )
    .argument("<run-id>", "the id of the run")
    .option("--file <file>", "the file of the workflow, if it has moved")
    .option("--accept-changes", "go on although the workflow has changed since the start");
  withCommonOptions(withRunOptions(command))
    .addHelpText(
      "after",
      examples(
        "toolwright resume order-17",
        "toolwright resume order-17 --ask",
        "toolwright resume order-17 --json",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<ResumeOptions>, runId: string) => {
        const { resumeRun } = await import("../resume-run.ts");
        return resumeRun(screen, runId, options);
      }),
    );
}
