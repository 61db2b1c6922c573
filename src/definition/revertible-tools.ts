/**
 * The tools of this process that have a `revert`, by name. A revert of a run that another process made finds the tools of its
 * workflow here, once the file of the workflow is loaded.
 */
import { sharedByCopies } from "./package-copy.ts";
import type { ToolSpec } from "./tool-spec.ts";

const defined = sharedByCopies("revertible tools.1", () => new Map<string, ToolSpec | "ambiguous">());

/** A file that is evaluated twice defines the same tool twice. Two tools with one name have different functions. */
export function noteRevertible(spec: ToolSpec): void {
  const known = defined.get(spec.name);
  const isOther = known !== undefined && (known === "ambiguous" || textOf(known) !== textOf(spec));
  defined.set(spec.name, isOther ? "ambiguous" : spec);
}

/** `"ambiguous"` if two different tools of this process have the name. */
export function findRevertible(name: string): ToolSpec | "ambiguous" | undefined {
  return defined.get(name);
}

function textOf({ revert }: ToolSpec): string {
  return revert === undefined ? "" : Function.prototype.toString.call(revert);
}
