/** What all commands share: their common options, and one place where what they throw is put into words. */
import type { Command } from "commander";
import { whenDrained } from "../util/when-drained.ts";
import { CliError } from "./cli-error.ts";
import { type CommonOptions, createScreen, type Screen } from "./screen.ts";

export const EXIT = { finished: 0, failed: 1, waiting: 3 } as const;

/** Adds `--store`, `--json`, `--no-color` and `--debug`. */
export function withCommonOptions(command: Command): Command {
  return withOutputOptions(
    command.option("--store <path>", "a SQLite file, or postgres://…", "toolwright.db"),
  );
}

export function withOutputOptions(command: Command): Command {
  return command
    .option("--json", "print JSON, for programs")
    .option("--no-color", "print no colours (also with NO_COLOR set, or without a terminal)")
    .option("--debug", "print stack traces");
}

export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

export const EXIT_HELP =
  "\n\nExit codes: 0 finished, 1 failed, stopped or a usage error, 3 waiting\nfor approval.";

export interface Acting<Options> {
  readonly screen: Screen;
  readonly options: Options;
}

/** An action that writes to a screen and returns an exit code. */
export function acting(
  action: (context: Acting<never>, ...args: never[]) => Promise<number>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    // Commander hands over the arguments, then the options, then the command.
    const options = given.at(-2) as CommonOptions;
    const screen = createScreen(options);
    complainOfStrays(screen);
    using _ = complainOfNothingLeft(screen);
    try {
      process.exitCode = await action(
        { screen, options: options as never },
        ...(given.slice(0, -2) as never[]),
      );
    } catch (error) {
      screen.complain(error);
      process.exitCode = EXIT.failed;
    } finally {
      leaveWhenWritten();
    }
  };
}

/** What a user's own code throws where nobody waits for it ends the process, as a crash that can be resumed. */
export function complainOfStrays(screen: Screen): void {
  process.on("uncaughtException", (error) => {
    screen.complain(error);
    process.exit(EXIT.failed);
  });
}

function complainOfNothingLeft(screen: Screen): Disposable {
  return whenDrained(() => {
    screen.complain(
      new CliError(
        "CLI_NOTHING_LEFT",
        "What runs waits for something that cannot happen any more: a promise that nobody settles.",
        "Mend it, then go on with the run; toolwright ps says which one was interrupted.",
      ),
    );
    process.exit(EXIT.failed);
  });
}

/** A timer or a connection that a workflow's own code has left open does not keep the command from ending. */
export function leaveWhenWritten(): void {
  process.stdout.write("", () => setTimeout(() => process.exit(), 50).unref());
}
