/** `toolwright deny <id>`: decides against what was asked. */
import type { Command } from "commander";
import { type Acting, acting, examples, withCommonOptions } from "../command.ts";
import type { DecisionOptions } from "../decide.ts";

export function addDenyCommand(program: Command): void {
  const command = program
    .command("deny")
    .summary("decide against a request")
    .description("Decides against a request. The comment is told to the agent that asked.")
    .argument("<id>", "the id of the request, or of a run that waits for one thing only")
    .option("--by <name>", "who decides (default: the user of this system)")
    .option("--comment <text>", "why");
  withCommonOptions(command)
    .addHelpText("after", examples(`toolwright deny ID --comment "too expensive"`))
    .action(
      acting(async ({ screen, options }: Acting<DecisionOptions>, id: string) => {
        const { decide } = await import("../decide.ts");
        return decide(screen, options, id, { approved: false });
      }),
    );
}
