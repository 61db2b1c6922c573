/** `toolwright cancel <run-id>`: stops a run, which can be resumed later. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { nextCommand } from "../command-name.ts";
import type { CommonOptions } from "../screen.ts";

export function addCancelCommand(program: Command): void {
  const command = program
    .command("cancel")
    .summary("stop a run")
    .description("Stops a run, in whichever process it is. It can be resumed later.")
    .argument("<run-id>", "the id of the run");
  withCommonOptions(command)
    .addHelpText("after", examples("toolwright cancel order-17"))
    .action(
      acting(async ({ screen, options }: Acting<CommonOptions>, runId: string) => {
        const { withRun } = await import("../open.ts");
        const { cancelRun } = await import("../cancel-run.ts");
        const how = await withRun(options.store, runId, cancelRun);
        screen.tell({ runId, ...how });
        screen.say(how.message);
        screen.say(`  Resume it with:  ${nextCommand(options.store, "resume", runId)}`);
        return EXIT.finished;
      }),
    );
}
