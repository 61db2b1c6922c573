/**
 * Tells after an interruption whether an edit has happened, from the text and the patch alone. Must never say yes or
 * no where both could be.
 */
import { tryPatch } from "./apply-patch.ts";
import { parseUnifiedDiff, reversePatch } from "./parse-unified-diff.ts";

/**
 * `"applied"`: the patch is in the text, and would not fit again. `"pending"`: it fits, and is not in. `"unclear"`:
 * both or neither.
 */
export type PatchState = "applied" | "pending" | "unclear";

/** Throws `TOOL_PATCH_FAILED` when the patch itself is malformed. */
export function patchState(text: string, patch: string): PatchState {
  const forward = parseUnifiedDiff(patch);
  const fits = tryPatch(text, forward) !== undefined;
  const isIn = tryPatch(text, reversePatch(forward)) !== undefined;
  if (fits === isIn) return "unclear";
  return isIn ? "applied" : "pending";
}

/** Whether the patch is certainly in the text already. */
export function isPatchApplied(text: string, patch: string): boolean {
  return patchState(text, patch) === "applied";
}
