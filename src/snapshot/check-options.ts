/** The options of the functions for snapshots. An unknown name or value is refused, since one of them turns the sandbox off. */
import {
  aFullText,
  anObject,
  aText,
  type Check,
  either,
  oneOf,
  Problem,
  refuseUnknown,
} from "../definition/option-checks.ts";
import { ToolwrightError } from "../errors.ts";

/** @param name of the function. `own` are its options beside the common ones. */
export function checkOptions(name: string, options: object, own: readonly string[]): void {
  const given = options as Readonly<Record<string, unknown>>;
  try {
    anObject(options, name);
    refuseUnknown(options, [...Object.keys(CHECKS), ...own], "", name);
    for (const [option, check] of Object.entries(CHECKS)) {
      if (given[option] !== undefined || option === "rootDir") check(given[option], option);
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new ToolwrightError("TOOL_OPTION_INVALID", `Option ${error.field} ${error.message}`, {
      details: { option: error.field },
      effect: "none",
    });
  }
}

const CHECKS: Readonly<Record<string, Check>> = {
  rootDir: aFullText,
  runId: aText,
  store: either("a path, a postgres:// address or an open store", aFullText, anObject),
  isolation: oneOf("auto", "require", "off"),
};
