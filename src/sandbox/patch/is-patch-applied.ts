/**
 * Determines after an interruption whether an edit was applied, from the text and the patch alone. It must never
 * answer yes or no if both are possible.
 */
import { tryPatch } from "./apply-patch.ts";
import { parseUnifiedDiff, reversePatch } from "./parse-unified-diff.ts";

/**
 * `"applied"`: the text contains the patch, and the patch would not fit again. `"pending"`: the patch fits, and the
 * text does not contain it. `"unclear"`: both or neither.
 */
export type PatchState = "applied" | "pending" | "unclear";

/** Throws `TOOL_PATCH_FAILED` if the patch itself is malformed. */
export function patchState(text: string, patch: string): PatchState {
  const forward = parseUnifiedDiff(patch);
  const fits = tryPatch(text, forward) !== undefined;
  const isIn = tryPatch(text, reversePatch(forward)) !== undefined;
  if (fits === isIn) return "unclear";
  return isIn ? "applied" : "pending";
}

/** Whether the text certainly contains the patch already. */
export function isPatchApplied(text: string, patch: string): boolean {
  return patchState(text, patch) === "applied";
}
