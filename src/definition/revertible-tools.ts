/**
 * The tools of this process that have a `revert`, by name, and the names of other side effects. A revert of a run that another
 * process made finds the tools of its workflow here, once the file of the workflow is loaded.
 */
import { sharedByCopies } from "./package-copy.ts";
import type { ToolSpec } from "./tool-spec.ts";

/** `"ambiguous"`: two different tools have the name. `"none"`: the tool has no `revert`. */
type Defined = ToolSpec | "ambiguous" | "none";

const defined = sharedByCopies("revertible tools.2", () => new Map<string, Defined>());

/** A file that is evaluated twice defines the same tool twice. Two tools with one name have different functions. */
export function noteSideEffect(spec: ToolSpec): void {
  const known = defined.get(spec.name);
  if (spec.revert === undefined) {
    if (known === undefined) defined.set(spec.name, "none");
    return;
  }
  const isOther =
    known !== undefined && known !== "none" && (known === "ambiguous" || textOf(known) !== textOf(spec));
  defined.set(spec.name, isOther ? "ambiguous" : spec);
}

export function findSideEffect(name: string): Defined | undefined {
  return defined.get(name);
}

function textOf({ revert }: ToolSpec): string {
  return revert === undefined ? "" : Function.prototype.toString.call(revert);
}
