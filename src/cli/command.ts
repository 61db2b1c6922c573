/** What all commands share: their common options, and one place where what they throw is put into words. */
import type { Command } from "commander";
import { whenDrained } from "../util/when-drained.ts";
import { CliError } from "./cli-error.ts";
import { commandName, setDefaultStore, shownStore } from "./command-name.ts";
import { findConfig } from "./find-config.ts";
import { loadSettingsFor } from "./project-settings.ts";
import { DEFAULT_STORE } from "../operate/store-address.ts";
import { type CommonOptions, createScreen, type Screen } from "./screen.ts";

export const EXIT = { finished: 0, failed: 1, waiting: 3 } as const;

export const STORE_HELP = "a SQLite file, or postgres://… (default: the config's, else toolwright.db)";

/** Adds `--store`, `--json`, `--no-color` and `--debug`. */
export function withCommonOptions(command: Command): Command {
  return withOutputOptions(command.option("--store <path>", STORE_HELP));
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

/**
 * An action that writes to a screen and returns an exit code. `options.store` is the one that was named, else the
 * config's, else the default.
 * @param isStoreOpened `false` for a command that reads the config itself
 */
export function acting(
  action: (context: Acting<never>, ...args: never[]) => Promise<number>,
  { isStoreOpened = true }: { readonly isStoreOpened?: boolean } = {},
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    // Commander hands over the arguments, then the options, then the command.
    const options = given.at(-2) as CommonOptions;
    const command = given.at(-1) as Command;
    const screen = createScreen(options);
    complainOfStrays(screen);
    using _ = complainOfNothingLeft(screen);
    try {
      const hasStore = command.options.some(({ long }) => long === "--store");
      const store = isStoreOpened && hasStore ? await storeFor(options, screen) : options.store;
      process.exitCode = await action(
        { screen, options: { ...options, ...(store === undefined ? {} : { store }) } as never },
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

/** The config is a program: it is loaded only where it is needed to know the store. */
async function storeFor(given: Partial<CommonOptions>, screen: Screen): Promise<string> {
  const hasConfig = findConfig(process.cwd()) !== undefined;
  if (given.store !== undefined) {
    if (hasConfig) setDefaultStore(undefined);
    return given.store;
  }
  const found = (await loadSettingsFor(screen))?.store;
  if (found === undefined) return DEFAULT_STORE;
  if (typeof found !== "string" && found.path === undefined) {
    throw new CliError(
      "CLI_CONFIG_INVALID",
      "The store of toolwright.config is an open store, whose address is not known here.",
      "Name it with --store, or write its path or postgres:// address in the config.",
    );
  }
  const store = shownStore(found);
  setDefaultStore(store);
  return store;
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
        "The command waits for a promise that can no longer settle: nothing is left that could settle it.",
        `Fix it, then resume the run. List interrupted runs: ${commandName()} ps --status interrupted`,
      ),
    );
    process.exit(EXIT.failed);
  });
}

/** A timer or a connection that a workflow's own code has left open does not keep the command from ending. */
export function leaveWhenWritten(): void {
  process.stdout.write("", () => setTimeout(() => process.exit(), 50).unref());
}
