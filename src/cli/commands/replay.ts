/** `toolwright replay <fixture> [file]`: runs the code of a recorded run again, without any effect. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withOutputOptions } from "../command.ts";
import type { CommonOptions } from "../screen.ts";

export function addReplayCommand(program: Command): void {
  const command = program
    .command("replay")
    .summary("compare the code with a recorded run")
    .description(
      "Runs the code of a recorded run on its model responses and tool results, and prints what differs. No tool runs, no model is " +
        "asked and no store is written. Functions of the workflow run.",
    )
    .argument("<fixture>", "a file that `toolwright record` has written")
    .argument(
      "[file]",
      "the file whose default export is the workflow, the agent or the function (default: by its name in the config)",
    );
  withOutputOptions(command)
    .addHelpText(
      "after",
      `${examples("toolwright replay order.fixture.json", "toolwright replay order.fixture.json order.tsx")}

Exit codes: 0 the same, 1 different, or the fixture cannot be used.`,
    )
    .action(
      acting(async ({ screen, options: _options }: Acting<CommonOptions>, fixture: string, file?: string) => {
        const { replayFile } = await import("../replay-file.ts");
        return (await replayFile(screen, fixture, file)) ? EXIT.finished : EXIT.failed;
      }),
    );
}
