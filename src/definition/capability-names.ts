/** Names that tools read in `ctx` already. A capability under such a name would never reach a tool. */
import { BASE_CONTEXT_FIELDS } from "./context.ts";
import { type Check, Problem } from "./option-checks.ts";

export const noContextFields: Check = (value, field) => {
  for (const name of Object.keys(value as object)) {
    if (!(name in BASE_CONTEXT_FIELDS)) continue;
    throw new Problem(
      `${field}.${name}`,
      `cannot be given: every tool's context has its own "${name}". Give the capability another name.`,
    );
  }
};
