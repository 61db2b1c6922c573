/** What a command did to protected paths, and the error that tells its caller. */
import { relative } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import type { IsolationTier } from "../tiers/isolation-tier.ts";

export interface Violation {
  readonly kind:
    | "replaced"
    | "appeared"
    | "repository"
    | "redirected"
    | "closed"
    | "operation"
    | "link"
    | "forged"
    | "ref";
  readonly path: string;
  readonly taken?: readonly string[];
}

export function violationError(
  violations: readonly Violation[],
  root: string,
  tier: IsolationTier,
): ToolwrightError {
  const message = violations.map((each) => sentenceOf(each, relative(root, each.path))).join(" ");
  const paths = violations.map(({ path }) => relative(root, path));
  return new ToolwrightError("TOOL_PATH_PROTECTED", message, {
    details: { paths, tier },
    effect: "happened",
    hint: "Check the named files before you use them, then run the command again without touching them.",
  });
}

function sentenceOf({ kind, taken = [] }: Violation, path: string): string {
  const shown = JSON.stringify(path);
  switch (kind) {
    case "replaced":
      return `The protected path ${shown} was replaced while the command ran, which ended its protection, so the command was stopped.${
        taken.length === 0 ? "" : ` Check what git would run from there: ${taken.join(", ")}.`
      }`;
    case "appeared":
      return `${shown} appeared while a command ran, and no command may create it. It was left in place; Toolwright does not use it until a person accepts it.`;
    case "redirected":
      return `The command created ${shown}, which makes git read other settings. It was removed.`;
    case "link":
      return `The command created the link ${shown} (to ${taken.map((target) => JSON.stringify(target)).join()}), through which git would write outside the root or to protected files. It was removed.`;
    case "forged":
      return `The command wrote a path into ${shown} that git never lists (${taken.map((path) => JSON.stringify(path)).join()}), and git would use that file. The list was removed. \`git reset\` makes a new index.`;
    case "ref":
      return `The command created the symbolic ref ${shown} (to ${taken.map((target) => JSON.stringify(target)).join()}), through which git would write to its other files. It was removed.`;
    case "closed":
      return `The command removed the permission to list or enter the folder ${shown}, in which git or Toolwright could find something to run. The permission was restored.`;
    case "operation":
      return `The command left a program or an option in ${shown} (${taken.join(", ")}), which git would obey when the operation is continued. It was turned off.`;
    case "repository":
      return `The repository ${shown} appeared or changed while a command ran, with settings or hooks that git would run (${taken.join(", ")}). They were turned off.`;
  }
}
