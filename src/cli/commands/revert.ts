/** `toolwright revert <run-id>`: reverts the effects of a run. */
import type { Command } from "commander";
import { type Acting, acting, examples, withCommonOptions } from "../command.ts";
import type { RevertCommandOptions } from "../revert-run.ts";

const EXIT_CODES =
  "\n\nExit codes: 0 all effects were reverted, 1 a revert failed, or a usage error,\n3 reverts wait for approval, 4 effects were left as they are.";

export function addRevertCommand(program: Command): void {
  const command = program
    .command("revert")
    .summary("undo the effects of a run")
    .description(
      "Reverts the effects of a run, newest first, with the revert functions of its tools. Each revert is a logged call. A reverted run cannot be resumed; it can be forked.",
    )
    .argument("<run-id>", "the id of the run")
    .option("--from <task>", "only this task and everything after it")
    .option("--dry-run", "show what would be reverted, and change nothing")
    .option("--file <file>", "the workflow file, if it has moved");
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples(
        "toolwright revert order-17 --dry-run",
        "toolwright revert order-17",
        "toolwright revert order-17 --from pay",
      ) + EXIT_CODES,
    )
    .action(
      acting(async ({ screen, options }: Acting<RevertCommandOptions>, runId: string) => {
        const { revertFrom } = await import("../revert-run.ts");
        return revertFrom(screen, runId, options);
      }),
    );
}
