/**
 * One table of option names and checks for each function that takes options. All of them use this file, so that unknown
 * names and wrong types give the same errors everywhere, and no value counts as true by coercion.
 */
import { ToolwrightError } from "../errors.ts";
import {
  type Check,
  describe,
  isOptionsObject,
  Problem,
  refuseInherited,
  refuseUnknown,
} from "./option-checks.ts";

export interface OptionTable {
  /** The function's name in errors, for example `createMcpServer`. */
  readonly surface: string;
  readonly checks: Readonly<Record<string, Check>>;
  /** The names of the checks. */
  readonly names: readonly string[];
  readonly required: readonly string[];
  /** An example of the options, for the error about a value that is not an object. */
  readonly example: string;
}

type Checks<Options> = { readonly [Name in keyof Options & string]-?: Check };

/** The type makes the table complete: an option without a check does not compile. */
export function optionTable<Options extends object>(
  surface: string,
  checks: Checks<Options>,
  more: { readonly required?: readonly (keyof Options & string)[]; readonly example?: string } = {},
): OptionTable {
  const names = Object.keys(checks);
  return { surface, checks, names, required: more.required ?? [], example: more.example ?? "{ … }" };
}

/** @throws TOOL_OPTION_INVALID */
export function checkOptions(table: OptionTable, given: unknown): void {
  try {
    checkAgainst(table, given);
  } catch (error) {
    throw toOptionError(table.surface, error);
  }
}

/** For a caller that makes its own error. @throws Problem */
export function checkAgainst({ checks, names, required, example }: OptionTable, given: unknown): void {
  if (!isOptionsObject(given)) {
    throw new Problem("", `the options must be an object such as ${example}, not ${describe(given)}.`);
  }
  const own = Object.keys(given);
  for (const name of own) {
    if (!Object.hasOwn(checks, name)) refuseUnknown(given, names);
  }
  refuseInherited(given, names);
  // Every call of a tool is checked, and most give one or two of many options.
  const values = given as Readonly<Record<string, unknown>>;
  for (const name of own) {
    const value = values[name];
    if (value !== undefined) checks[name]?.(value, name);
  }
  const missing = required.find((name) => values[name] === undefined);
  if (missing !== undefined) throw new Problem(missing, "is missing.");
}

/** Prefixes the message of a check with the name of the function. */
export function asOptionError(surface: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw toOptionError(surface, error);
  }
}

/** For checks that are asynchronous. Other errors are returned as they are. */
export function toOptionError(surface: string, error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  return new ToolwrightError("TOOL_OPTION_INVALID", `${surface}: ${error.sentence}`, {
    details: error.field === "" ? {} : { option: error.field },
    effect: "none",
  });
}
