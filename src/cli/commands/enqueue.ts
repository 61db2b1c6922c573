/** `toolwright enqueue <workflow>`: stores a run for the workers. */
import { type Command, InvalidArgumentError } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { readJson } from "../parse-options.ts";
import type { CommonOptions } from "../screen.ts";

export interface EnqueueCommandOptions extends CommonOptions {
  readonly input?: string;
  readonly runId?: string;
  readonly startAt?: string;
  readonly priority?: number;
  readonly label?: readonly string[];
}

export function addEnqueueCommand(program: Command): void {
  const command = program
    .command("enqueue")
    .summary("store a run for the workers")
    .description("Stores a run of a workflow, agent or program. A worker that knows the name starts it.")
    .argument("<name>", "under which the workers know it")
    .option("--input <json>", "JSON, @file, or - for stdin")
    .option("--run-id <id>", "the id of the run (default: a new one)")
    .option("--start-at <time>", "not before this time, such as 2027-01-31T09:00:00Z")
    .option("--priority <number>", "higher ones first (default: 0)", wholeOrNegative)
    .option("--label <key=value...>", "labels of the run");
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples(
        `toolwright enqueue order --input '{"item":"pear"}' --run-id order-17`,
        "toolwright enqueue report --start-at 2027-01-31T09:00:00Z --priority 5",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<EnqueueCommandOptions>, name: string) => {
        const { enqueueFrom } = await import("../enqueue-run.ts");
        const input = options.input === undefined ? undefined : readJson("--input", options.input);
        await enqueueFrom(screen, name, input, options);
        return EXIT.finished;
      }),
    );
}

function wholeOrNegative(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}
