/** `toolwright why <run-id>`: explains the status of a run, and which command to run next. */
import type { Command } from "commander";
import { stepLines, toLabelledSteps, toTypedSteps } from "../step-lines.ts";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import type { CommonOptions } from "../screen.ts";

export function addWhyCommand(program: Command): void {
  const command = program
    .command("why")
    .summary("explain why a run waits or failed, and what to do next")
    .description("Explains why a run waits, failed or stopped, and which command to run next.")
    .argument("<run-id>", "the id of the run");
  withCommonOptions(command)
    .addHelpText("after", examples("toolwright why order-17"))
    .action(
      acting(async ({ screen, options }: Acting<CommonOptions>, runId: string) => {
        const { withAnyRun } = await import("../open.ts");
        const { explainSteps } = await import("../../operate/explain-run.ts");
        const { status, because, next } = await withAnyRun(options.store, runId, explainSteps);
        const steps = toTypedSteps(options.store, next);
        screen.printJson({ runId, status, because, next: toLabelledSteps(options.store, next) });
        for (const sentence of because) screen.print(sentence);
        if (steps.length > 0) screen.print("Next:");
        for (const line of stepLines(steps)) screen.print(line);
        return EXIT.finished;
      }),
    );
}
