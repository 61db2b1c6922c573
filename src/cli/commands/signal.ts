/** `toolwright signal <run-id> <name>`: sends a signal to a run. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { syntaxFor } from "../command-name.ts";
import { readJson } from "../parse-options.ts";
import type { CommonOptions } from "../screen.ts";

interface SignalCommandOptions extends CommonOptions {
  readonly payload?: string;
  readonly key?: string;
}

export function addSignalCommand(program: Command): void {
  const command = program
    .command("signal")
    .summary("send a signal to a run")
    .description(
      "Sends a signal to a run of a workflow. It is stored until a <Signal> with this name uses it, once. A worker then resumes the run.",
    )
    .argument("<run-id>", "the id of the run")
    .argument("<name>", "the name of the signal")
    .option("--payload <json>", "the payload of the signal: JSON, @file, or - for stdin")
    .option("--key <key>", "a second signal with the same name and key is not stored");
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples(
        `toolwright signal order-17 paid --payload '{"amount":12}'`,
        "toolwright signal order-17 paid --payload @payment.json --key payment-3",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<SignalCommandOptions>, runId: string, name: string) => {
        const payload = options.payload === undefined ? undefined : readJson("--payload", options.payload);
        const { withRun } = await import("../open.ts");
        const { signalRun } = await import("../../operate/signal-run.ts");
        const { key } = options;
        const answer = await withRun(options.store, runId, (store) =>
          signalRun(store, syntaxFor(options.store), { runId, name, payload, key }),
        );
        screen.printJson(answer);
        screen.print(
          answer.duplicate
            ? answer.message
            : `The signal "${name}" was sent to run "${runId}". ${answer.message}`,
        );
        if (answer.command !== null) screen.print(`  ${answer.command}`);
        return EXIT.finished;
      }),
    );
}
