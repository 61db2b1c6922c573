/** Parses option values. Errors say what was expected. */
import { readFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { messageOf } from "../invoke/error-record.ts";
import { CliError } from "./cli-error.ts";

/** A parser for Commander: a whole number of at least `least`. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least}.`);
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
    given === "-" ? readText(0, "stdin") : given.startsWith("@") ? readText(given.slice(1)) : given;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const from = given === "-" ? "stdin" : given.startsWith("@") ? given.slice(1) : option;
    throw new CliError(
      "CLI_INPUT_INVALID",
      `${from} is not valid JSON: ${messageOf(error)}.`,
      `Pass ${option} JSON in single quotes, @file to read a file, or - to read stdin.`,
    );
  }
}

function readText(file: string | 0, name = String(file)): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CliError("CLI_INPUT_INVALID", `${name} cannot be read: ${messageOf(error)}.`);
  }
}
