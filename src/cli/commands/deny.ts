/** `toolwright deny <id>`: denies a request, or gives up on an interrupted call. */
import type { Command } from "commander";
import { type Acting, acting, examples, withCommonOptions } from "../command.ts";
import { type DecisionOptions, withDecisionOptions } from "../decision-options.ts";

interface DenyOptions extends DecisionOptions {
  readonly giveUp?: boolean;
}

export function addDenyCommand(program: Command): void {
  const command = program
    .command("deny")
    .summary("deny a request")
    .description(
      "Denies a request. The agent receives the comment. A request about an interrupted call needs --give-up.",
    )
    .argument("<id>", "the id of a request, or of a run that waits for a single request")
    .option(
      "--give-up",
      "do not run the interrupted call again; the caller gets the error that it may have happened",
    );
  withCommonOptions(withDecisionOptions(command))
    .addHelpText(
      "after",
      examples(
        `toolwright deny order-17 --comment "too expensive"`,
        "toolwright deny order-17 --resume",
        "toolwright deny order-17 --give-up",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<DenyOptions>, id: string) => {
        const { decide } = await import("../decide.ts");
        return decide(screen, options, id, false, options.giveUp === true ? { resolution: "give-up" } : {});
      }),
    );
}
