/** Shared by all commands: options, exit codes and error handling. */
import type { Command } from "commander";
import { whenDrained } from "../terminal/when-drained.ts";
import { CliError } from "./cli-error.ts";
import { commandName, setDefaultStore, shownStore } from "./command-name.ts";
import { findConfig } from "./find-config.ts";
import { isMasked, unmask } from "./masked-store.ts";
import { loadSettingsFor } from "./project-settings.ts";
import { DEFAULT_STORE, isForeignAddress, withoutPassword } from "../operate/store-address.ts";
import { type CommonOptions, createScreen, type Screen } from "./screen.ts";

/** `left`: a revert left effects as they are. */
export const EXIT = { finished: 0, failed: 1, waiting: 3, left: 4 } as const;

export const STORE_HELP = "a SQLite file, or postgres://… (default: the config's, else toolwright.db)";

/** Adds `--store`, `--json`, `--no-color` and `--debug`. */
export function withCommonOptions(command: Command): Command {
  return withOutputOptions(command.option("--store <path>", STORE_HELP));
}

export function withOutputOptions(command: Command): Command {
  return command
    .option("--json", "print JSON, for programs")
    .option("--no-color", "print no colours (default if NO_COLOR is set, or without a terminal)")
    .option("--debug", "print stack traces");
}

/** @param lines as typed with the program on the PATH; they are printed as this program was called */
export function examples(...lines: readonly string[]): string {
  const typed = lines.map((line) => `  ${line.replace("toolwright ", `${commandName()} `)}`);
  return `\nExamples:\n${typed.join("\n")}`;
}

export const EXIT_HELP =
  "\n\nExit codes: 0 finished, 1 failed, stopped or a usage error, 3 waiting\nfor approval, a time or a signal.";

export interface Acting<Options> {
  readonly screen: Screen;
  readonly options: Options;
}

/**
 * An action that writes to a screen and returns an exit code. `options.store` is the value of --store, else the config's
 * store, else the default.
 * @param isStoreOpened `false` for a command that reads the config itself
 */
export function acting(
  action: (context: Acting<never>, ...args: never[]) => Promise<number>,
  { isStoreOpened = true }: { readonly isStoreOpened?: boolean } = {},
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    // Commander passes the arguments, then the options, then the command.
    const options = given.at(-2) as CommonOptions;
    const command = given.at(-1) as Command;
    const screen = createScreen(options);
    reportUncaught(screen);
    using _ = reportStuckRun(screen);
    try {
      const hasStore = command.options.some(({ long }) => long === "--store");
      const named = await givenStore(options, screen);
      const store = isStoreOpened && hasStore ? await storeFor(named, screen) : named;
      process.exitCode = await action(
        { screen, options: { ...options, ...(store === undefined ? {} : { store }) } as never },
        ...(given.slice(0, -2) as never[]),
      );
    } catch (error) {
      screen.printError(error);
      process.exitCode = EXIT.failed;
    } finally {
      exitWhenWritten();
    }
  };
}

/** The value of --store, with the password that a printed command leaves out. */
async function givenStore({ store }: Partial<CommonOptions>, screen: Screen): Promise<string | undefined> {
  if (store === undefined) return store;
  if (isForeignAddress(store))
    throw new CliError(
      "CLI_USAGE",
      `--store must be a SQLite file or a postgres:// address, not ${withoutPassword(store)}.`,
      "Write the path of a file, such as toolwright.db, or postgres://user@host/database.",
    );
  if (!isMasked(store)) return store;
  return unmask(store, async () => {
    const configured = (await loadSettingsFor(screen))?.store;
    return typeof configured === "string" ? configured : configured?.path;
  });
}

/** The config is a program: load it only if the store is not given. */
async function storeFor(given: string | undefined, screen: Screen): Promise<string> {
  const hasConfig = findConfig(process.cwd()) !== undefined;
  if (given !== undefined) {
    if (hasConfig) setDefaultStore(undefined);
    return given;
  }
  const found = (await loadSettingsFor(screen))?.store;
  if (found === undefined) return DEFAULT_STORE;
  if (typeof found !== "string" && found.path === undefined) {
    throw new CliError(
      "CLI_CONFIG_INVALID",
      "The store in toolwright.config is an open store without an address.",
      "Pass --store, or write the path or postgres:// address of the store in the config.",
    );
  }
  const store = shownStore(found);
  setDefaultStore(store);
  return store;
}

/** An uncaught exception of the user's code ends the process, like a crash. The run can be resumed. */
export function reportUncaught(screen: Screen): void {
  process.on("uncaughtException", (error) => {
    screen.printError(error);
    process.exit(EXIT.failed);
  });
}

function reportStuckRun(screen: Screen): Disposable {
  return whenDrained(() => {
    screen.printError(
      new CliError(
        "CLI_NOTHING_LEFT",
        "The command waits for a promise that can no longer settle: nothing is left that could settle it.",
        `Fix it, then resume the run. List interrupted runs: ${commandName()} ps --status interrupted`,
      ),
    );
    process.exit(EXIT.failed);
  });
}

/** Timers and connections that a workflow left open must not keep the command running. */
export function exitWhenWritten(): void {
  process.stdout.write("", () => setTimeout(() => process.exit(), 50).unref());
}
