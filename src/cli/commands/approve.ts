/** `toolwright approve <id>`: approves a request, edited or as it is, or says what became of an interrupted call. */
import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { type Acting, acting, examples, withCommonOptions } from "../command.ts";
import { type DecisionOptions, withDecisionOptions } from "../decision-options.ts";
import { readJson } from "../parse-options.ts";

interface ApproveOptions extends DecisionOptions {
  readonly args?: string;
  readonly happened?: string | true;
  readonly runAgain?: boolean;
}

export function addApproveCommand(program: Command): void {
  const command = program
    .command("approve")
    .summary("approve a request")
    .description(
      "Approves a request. With --resume the run is resumed right after; else use toolwright resume <run-id>. A request about " +
        "an interrupted call needs an answer by name: --happened, --run-again, or toolwright deny <id> --give-up.",
    )
    .argument("<id>", "the id of the request, or of a run that waits for one thing only")
    .option("--args <json>", "run it with these arguments instead: JSON, @file, or -")
    .option(
      "--happened [json]",
      "an interrupted call happened and is not run again; its output: JSON, @file, or - (may be left out where the tool returns none)",
    )
    .option("--run-again", "run an interrupted call again; if it happened, it happens twice");
  withCommonOptions(withDecisionOptions(command))
    .addHelpText(
      "after",
      examples(
        "toolwright approve ID",
        "toolwright approve ID --resume",
        `toolwright approve ID --args '{"quantity": 1}' --comment "one is enough"`,
        `toolwright approve ID --happened '{"orderId": "o-17"}'`,
        "toolwright approve ID --run-again",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<ApproveOptions>, id: string) => {
        const { args, happened, runAgain } = options;
        if ([args, happened, runAgain].filter((given) => given !== undefined).length > 1)
          throw new CliError(
            "CLI_USAGE",
            "--args, --happened and --run-again exclude each other.",
            "Give one of them.",
          );
        const { decide } = await import("../decide.ts");
        return decide(screen, options, id, true, {
          ...(args === undefined ? {} : { approvedArgs: readJson("--args", args) }),
          ...(runAgain === true ? { resolution: "run-again" as const } : {}),
          ...(happened === undefined ? {} : { resolution: "happened" as const }),
          ...(typeof happened === "string" ? { output: readJson("--happened", happened) } : {}),
        });
      }),
    );
}
