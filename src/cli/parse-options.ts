/** Parses option values. Errors say what was expected. */
import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError } from "commander";
import { messageOf } from "../invoke/error-record.ts";
import { CliError } from "./cli-error.ts";

/** A parser for Commander: a whole number between `least` and `most`, inclusive. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    const upTo = most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number from ${least}${upTo}.`);
  };
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const;

/** A parser for Commander: a time span such as `30d`, in milliseconds. */
export function timeSpan(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (count === undefined)
    throw new InvalidArgumentError("It must be a number with a unit: s, m, h, d or w, as in 30d.");
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}

/** JSON itself, `@file`, or `-` for stdin. */
export function readJson(option: string, given: string): unknown {
  const text =
    given === "-" ? readText(option, 0) : given.startsWith("@") ? readText(option, given.slice(1)) : given;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const from = given === "-" ? "stdin" : given.startsWith("@") ? given.slice(1) : option;
    throw new CliError(
      "CLI_INPUT_INVALID",
      `${from} is not valid JSON: ${messageOf(error)}.`,
      howToPass(option),
    );
  }
}

function readText(option: string, file: string | 0): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const name = file === 0 ? "stdin" : file;
    throw new CliError(
      "CLI_INPUT_INVALID",
      `${name} cannot be read: ${messageOf(error)}.`,
      howToPass(option),
    );
  }
}

function howToPass(option: string): string {
  return `Pass ${option} JSON in single quotes, @file to read a file, or - to read stdin.`;
}

/** Options for which an empty text is a value. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(["comment"]);

/**
 * Refuses an option that is given twice with different values, a switch together with its opposite, and an empty value,
 * for example from an unset variable. Commander takes the last one, and the user would not notice.
 */
export function refuseAmbiguousOptions(command: Command): void {
  const given = new Map<string, string>();
  for (const option of command.options) {
    const field = option.attributeName();
    command.on(`option:${option.name()}`, (value: string | null | undefined) => {
      if (value === "" && !MAY_BE_EMPTY.has(field))
        command.error(`option '${option.flags}' argument is empty`, { code: "commander.invalidArgument" });
      const typed = typeof value !== "string" ? (option.long ?? "") : `${option.long} ${value}`;
      const before = given.get(field) ?? typed;
      if (before !== typed)
        command.error(`options '${before}' and '${typed}' cannot be combined`, {
          code: "commander.conflictingOption",
        });
      given.set(field, typed);
    });
  }
}
