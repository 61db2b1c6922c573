/** `toolwright record <run-id>`: prints a fixture of a run, for tests. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import type { CommonOptions } from "../screen.ts";

interface RecordCommandOptions extends CommonOptions {
  readonly out?: string;
}

export function addRecordCommand(program: Command): void {
  const command = program
    .command("record")
    .summary("print a run as a fixture for tests")
    .description(
      "Prints a run that has ended as a fixture: its model responses, calls and results, redacted. Replay it with `toolwright replay`. " +
        'A run that finished must have started with recording: "keep".',
    )
    .argument("<run-id>", "the id of the run")
    .option("--out <file>", "write it to this file, as a whole or not at all, instead of stdout");
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples(
        "toolwright record order-17 --out order.fixture.json",
        "toolwright record order-17 > order.fixture.json",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<RecordCommandOptions>, runId: string) => {
        const { withAnyRun } = await import("../open.ts");
        const { recordRun } = await import("../../operate/fixtures/record-run.ts");
        const { toFixtureText } = await import("../../operate/fixtures/write-fixture.ts");
        const { out } = options;
        const text = toFixtureText(await withAnyRun(options.store, runId, recordRun));
        if (out === undefined) {
          process.stdout.write(text);
          return EXIT.finished;
        }
        const { replaceWholeFile } = await import("../replace-whole-file.ts");
        replaceWholeFile(out, text);
        screen.printJson({ runId, file: out });
        screen.print(`Run "${runId}" is recorded in ${out}.`);
        return EXIT.finished;
      }),
    );
}
