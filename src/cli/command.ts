/** What all commands share: their common options, and one place where what they throw is put into words. */
import type { Command } from "commander";
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

/** An action that writes to a screen and returns an exit code. */
export function acting<Options extends Partial<CommonOptions>, Args extends readonly unknown[]>(
  action: (context: { readonly screen: Screen; readonly options: Options }, ...args: Args) => Promise<number>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    // Commander hands over the arguments, then the options, then the command.
    const options = given.at(-2) as Options;
    const screen = createScreen(options);
    try {
      process.exitCode = await action({ screen, options }, ...(given.slice(0, -2) as unknown as Args));
    } catch (error) {
      screen.complain(error);
      process.exitCode = EXIT.failed;
    }
  };
}
