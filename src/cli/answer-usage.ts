/** Reports usage errors of Commander like our own: same format, same JSON, same exit code. */
import type { Command, ErrorOptions } from "commander";
import { commandPath } from "../adapters/commander/command-help.ts";
import { CliError } from "./cli-error.ts";
import { commandName } from "./command-name.ts";
import { EXIT } from "./command.ts";
import { printedWord } from "../terminal/terminal-text.ts";
import { createScreen } from "./screen.ts";
import { meantCommand, similarCommand } from "./similar-command.ts";

/** @param argv the raw arguments: an error may occur before `--json` is parsed */
export function answerUsage(command: Command, argv: readonly string[]): void {
  command.error = (message: string, options?: ErrorOptions): never => {
    createScreen({ json: wantsJson(argv) }).printError(toUsageError(command, message, options?.code));
    process.exit(EXIT.failed);
  };
}

/** Arguments after `--` are not options. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(2, end === -1 ? undefined : end).includes("--json");
}

function toUsageError(command: Command, message: string, code: string | undefined): CliError {
  const isRoot = command.parent === null;
  // `--json` is an option of the commands, so it is unknown only if the command is missing.
  if (isRoot && code === "commander.unknownOption" && message.includes("'--json'"))
    return new CliError("CLI_USAGE", "A command is missing.", `See: ${commandName()} --help`);
  const words = message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ");
  if (isRoot && code === "commander.unknownCommand") return unknownCommand(words);
  const hint =
    switchHint(command, message) ??
    misplacedHint(command, message) ??
    choiceHint(message) ??
    `See: ${[commandName(), ...commandPath(command).split(" ").slice(1), "--help"].join(" ")}`;
  return new CliError("CLI_USAGE", words, hint);
}

function unknownCommand(words: string): CliError {
  // Commander suggests by spelling only.
  const [start = words] = words.split(" (Did you mean");
  const word = start.replace(/^unknown command '?(.*?)'?$/, "$1");
  const meant = meantCommand(word);
  if (meant !== undefined) {
    const line = [commandName(), ...meant.map(printedWord)].join(" ");
    return new CliError("CLI_USAGE", start, `Did you mean: ${line}`);
  }
  const hint = `Tools are commands in the folder of toolwright.config.ts. See: ${commandName()} --help`;
  return new CliError("CLI_USAGE", words, hint);
}

/** `toolwright --store app.db ps`: options belong after the command. */
function misplacedHint(command: Command, message: string): string | undefined {
  const [, long = ""] = /unknown option '(--[\w-]+)/.exec(message) ?? [];
  const owner = command.commands.find(({ options }) => options.some((option) => option.long === long));
  if (command.parent !== null || owner === undefined) return undefined;
  return `Write ${long} after the command, for example: ${commandName()} ${owner.name()} ${long} …`;
}

/** `--template agnt`: the choice that was meant. */
function choiceHint(message: string): string | undefined {
  const [, word, choices = ""] =
    /argument '(.*)' is invalid\. Allowed choices are (.*)\./.exec(message) ?? [];
  if (word === undefined) return undefined;
  const meant = similarCommand(word, choices.split(", "));
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
}

/** `--allow-network=false` is what many others take. Here a switch takes no value. */
function switchHint(command: Command, message: string): string | undefined {
  const [, long = "", value = ""] = /'(--[\w-]+)=([^']*)'/.exec(message) ?? [];
  const isSwitch = command.options.some((option) => option.isBoolean() && option.long === long);
  if (!isSwitch) return undefined;
  const off = long.replace("--", "--no-");
  const hasOff = command.options.some((option) => option.long === off);
  const isOff = /^(false|no|off|0)$/i.test(value);
  if (!isOff) return `A switch takes no value. Write: ${long}`;
  return `A switch takes no value. ${hasOff ? `Write: ${off}` : `Leave ${long} out.`}`;
}
