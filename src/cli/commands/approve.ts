/** `toolwright approve <id>`: approves a request, with or without changes, or resolves an interrupted call. */
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
      "Approves a request. --resume then resumes the run; without it, use toolwright resume <run-id>. A request about " +
        "an interrupted call needs one of three answers: --happened, --run-again, or toolwright deny <id> --give-up.",
    )
    .argument("<id>", "the id of a request, or of a run that waits for a single request")
    .option("--args <json>", "run the call with these arguments instead: JSON, @file, or -")
    .option(
      "--happened [json]",
      "the interrupted call happened; do not run it again. Its output: JSON, @file, or - (optional if the tool has no output schema)",
    )
    .option("--run-again", "run the interrupted call again; if it happened, it happens twice");
  withCommonOptions(withDecisionOptions(command))
    .addHelpText(
      "after",
      examples(
        "toolwright approve order-17",
        "toolwright approve order-17 --resume",
        `toolwright approve order-17 --args '{"item":"pear","quantity":1}' --comment "one is enough"`,
        `toolwright approve order-17 --happened '{"receipt":"50 of pear"}'`,
        "toolwright approve order-17 --run-again",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<ApproveOptions>, id: string) => {
        const { args, happened, runAgain } = options;
        if ([args, happened, runAgain].filter((given) => given !== undefined).length > 1)
          throw new CliError(
            "CLI_USAGE",
            "--args, --happened and --run-again cannot be combined.",
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
