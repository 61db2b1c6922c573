/**
 * One table for each function that takes options: the names, and what each may be. Every surface is checked by this file, so
 * that an unknown name or a wrong type is refused in the same words everywhere, and no value counts as true by coercion.
 */
import { ToolwrightError } from "../errors.ts";
import { type Check, describe, Problem, refuseUnknown } from "./option-checks.ts";

export interface OptionTable {
  /** How errors name the function, for example `createMcpServer`. */
  readonly surface: string;
  readonly checks: Readonly<Record<string, Check>>;
  readonly required: readonly string[];
  /** What `{ … }` stands for in an error about something that is not an object. */
  readonly example: string;
}

type Checks<Options> = { readonly [Name in keyof Options & string]-?: Check };

/** The type makes the table complete: an option without a check does not compile. */
export function optionTable<Options extends object>(
  surface: string,
  checks: Checks<Options>,
  more: { readonly required?: readonly (keyof Options & string)[]; readonly example?: string } = {},
): OptionTable {
  return { surface, checks, required: more.required ?? [], example: more.example ?? "{ … }" };
}

/** @throws TOOL_OPTION_INVALID */
export function checkOptions(table: OptionTable, given: unknown): void {
  try {
    checkAgainst(table, given);
  } catch (error) {
    throw toOptionError(table.surface, error);
  }
}

/** The same for a caller with words of its own. @throws Problem */
export function checkAgainst({ surface, checks, required, example }: OptionTable, given: unknown): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new Problem("", `the options must be an object such as ${example}, not ${describe(given)}.`);
  }
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(checks, name)) refuseUnknown(given, Object.keys(checks), "", surface);
  }
  for (const name in checks) {
    const value = (given as Record<string, unknown>)[name];
    if (value !== undefined) checks[name]?.(value, name);
    else if (required.includes(name)) throw new Problem(name, "is missing.");
  }
}

/** Puts the name of the function before what a check says. */
export function asOptionError(surface: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw toOptionError(surface, error);
  }
}

function toOptionError(surface: string, error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  return new ToolwrightError("TOOL_OPTION_INVALID", `${surface}: ${error.sentence}`, {
    details: error.field === "" ? {} : { option: error.field },
    effect: "none",
  });
}
