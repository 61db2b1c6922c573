/** Finds the definition of a tool that a run has called, to revert its calls. */
import { findSideEffect } from "../../definition/revertible-tools.ts";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import type { Host } from "../../invoke/host.ts";
import type { EffectRow } from "../../store/tables/reverts.ts";

export type Definition =
  | { readonly kind: "revertible"; readonly spec: ToolSpec; readonly revert: NonNullable<ToolSpec["revert"]> }
  /** @param reason why the effect stays */
  | { readonly kind: "left"; readonly reason: string }
  /** The call had no effect. */
  | { readonly kind: "pure" };

/** The tools of the runtime first, then tools that it has called, then tools that the loaded files define. */
export function findDefinition(
  { tools, calledTools }: Pick<Host, "tools" | "calledTools">,
  builtIn: ReadonlyMap<string, ToolSpec>,
  { toolName, unrepeatable }: Pick<EffectRow, "toolName" | "unrepeatable">,
): Definition {
  const named = tools.find(({ name }) => name === toolName) ?? calledTools.get(toolName);
  const spec = named ?? builtIn.get(toolName) ?? findSideEffect(toolName);
  if (spec === "ambiguous")
    return {
      kind: "left",
      reason: `Several tools of this process are named "${toolName}". Pass the right one to createRuntime({ tools }).`,
    };
  if (spec === "none") return withoutRevert(toolName);
  if (spec?.revert !== undefined) return { kind: "revertible", spec, revert: spec.revert };
  if (spec !== undefined) return spec.sideEffect ? withoutRevert(toolName) : { kind: "pure" };
  // Without a definition, only the log distinguishes an effect from a read.
  return unrepeatable
    ? {
        kind: "left",
        reason: `The definition of "${toolName}" is not known here. Pass it to createRuntime({ tools }), or add it to the config.`,
      }
    : { kind: "pure" };
}

function withoutRevert(toolName: string): Definition {
  return { kind: "left", reason: `"${toolName}" has no revert function.` };
}
