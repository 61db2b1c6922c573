/** `toolwright approve <id>`: agrees to what was asked, or to an edited version of it. */
import type { Command } from "commander";
import { type Acting, acting, examples, withCommonOptions } from "../command.ts";
import type { DecisionOptions } from "../decide.ts";
import { readJson } from "../parse-options.ts";

interface ApproveOptions extends DecisionOptions {
  readonly args?: string;
  readonly happened?: string;
}

export function addApproveCommand(program: Command): void {
  const command = program
    .command("approve")
    .summary("agree to a request")
    .description("Agrees to a request. The run then goes on with: toolwright resume <run-id>.")
    .argument("<id>", "the id of the request, or of a run that waits for one thing only")
    .option("--args <json>", "run it with these arguments instead: JSON, @file, or -")
    .option("--happened <json>", "an interrupted call has happened, with this output: JSON, @file, or -")
    .option("--by <name>", "who decides (default: the user of this system)")
    .option("--comment <text>", "why");
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples(
        "toolwright approve ID",
        `toolwright approve ID --args '{"quantity": 1}' --comment "one is enough"`,
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<ApproveOptions>, id: string) => {
        const { decide } = await import("../decide.ts");
        return decide(screen, options, id, {
          approved: true,
          ...(options.args === undefined ? {} : { approvedArgs: readJson("--args", options.args) }),
          ...(options.happened === undefined
            ? {}
            : { happened: { output: readJson("--happened", options.happened) } }),
        });
      }),
    );
}
